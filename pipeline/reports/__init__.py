"""Questions over the trail: what was asked, what stood behind the answers, what was refused."""
