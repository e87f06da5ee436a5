"""Two-turn dialogues: language, the first question, the passage that answers it, the second
message, and whether that passage may answer the second message too."""

LOGIN_PT = (
    "Login bloqueado. Depois de cinco senhas erradas o acesso fica bloqueado. Peça o desbloqueio "
    "no aplicativo; ele é feito em até 3 dias úteis. O mesmo vale para a conta de dependente."
)
CARD_PT = (
    "Cartão pré-pago. O resgate em cartão pré-pago exige 2.000 pontos. O cartão físico chega em 10 "
    "dias úteis; o cartão virtual é liberado na hora. A taxa de emissão é de R$ 5,00."
)
REFUND_EN = (
    "Refunds. Plan Pro can be refunded within 30 days, plan Basic within 14 days. Money goes back "
    "to the card that paid. Yearly billing is refunded in part."
)
SETUP_EN = (
    "Installing the agent. Download the package for Linux or Windows and run the installer. The "
    "agent starts with the system and writes its log to a file."
)
SHIPPING_ES = (
    "Envíos. El pedido llega en 5 días hábiles a Madrid y en 8 días a las islas. Si no llega, abra "
    "una reclamación. El envío exprés cuesta 9 €."
)
PASSWORD_ES = (
    "Contraseña olvidada. Pulse el enlace de recuperación y siga los pasos del correo. El enlace "
    "caduca a las 24 horas. En la aplicación móvil el enlace está en el menú."
)
PLANS_VI = (
    "Hoàn tiền. Gói Pro được hoàn tiền trong 30 ngày, gói Basic trong 14 ngày. Tiền được trả về "
    "thẻ đã thanh toán. Thẻ quốc tế cần thêm 5 ngày."
)
LOGIN_VI = (
    "Quên mật khẩu. Bấm liên kết khôi phục và làm theo hướng dẫn trong thư điện tử. Liên kết hết "
    "hạn sau 24 giờ. Tài khoản bị khóa thì gọi tổng đài."
)

FOLLOW_UPS = [
    ("pt", "meu login está bloqueado", LOGIN_PT, "e quanto demora?", True),
    ("pt", "meu login está bloqueado", LOGIN_PT, "e para a conta de dependente?", True),
    ("pt", "meu login está bloqueado", LOGIN_PT, "por quê?", True),
    ("pt", "meu login está bloqueado", LOGIN_PT, "como faço isso?", True),
    ("pt", "meu login está bloqueado", LOGIN_PT, "qual o prazo?", True),
    ("pt", "meu login está bloqueado", LOGIN_PT, "em quantos dias?", True),
    ("pt", "quero o cartão pré-pago", CARD_PT, "e para a outra?", True),
    ("pt", "quero o cartão pré-pago", CARD_PT, "e o virtual?", True),
    ("pt", "quero o cartão pré-pago", CARD_PT, "e se não chegar?", True),
    ("pt", "quero o cartão pré-pago", CARD_PT, "quanto custa?", True),
    ("pt", "quero o cartão pré-pago", CARD_PT, "tem taxa de emissao?", True),
    ("pt", "meu login está bloqueado", LOGIN_PT, "qual é a capital do Brasil?", False),
    ("pt", "meu login está bloqueado", LOGIN_PT, "e a capital do Brasil?", False),
    ("pt", "meu login está bloqueado", LOGIN_PT, "obrigado!", False),
    ("pt", "meu login está bloqueado", LOGIN_PT, "quem é você?", False),
    ("pt", "quero o cartão pré-pago", CARD_PT, "como faço para mudar meu endereço?", False),
    ("pt", "quero o cartão pré-pago", CARD_PT, "e o jogo do Flamengo ontem?", False),
    ("pt", "quero o cartão pré-pago", CARD_PT, "me conta uma piada", False),
    ("en", "Refund window of plan Pro?", REFUND_EN, "and for Basic?", True),
    ("en", "Refund window of plan Pro?", REFUND_EN, "what about yearly billing?", True),
    ("en", "Refund window of plan Pro?", REFUND_EN, "how long does it take?", True),
    ("en", "Refund window of plan Pro?", REFUND_EN, "is that the same for Basic?", True),
    ("en", "Refund window of plan Pro?", REFUND_EN, "why?", True),
    ("en", "Refund window of plan Pro?", REFUND_EN, "to which card?", True),
    ("en", "how do I install the agent", SETUP_EN, "and on Windows?", True),
    ("en", "how do I install the agent", SETUP_EN, "where does it write the log?", True),
    ("en", "how do I install the agent", SETUP_EN, "what happens then?", True),
    ("en", "how do I install the agent", SETUP_EN, "can you explain that again?", True),
    ("en", "how do I install the agent", SETUP_EN, "what is the capital of Brazil?", False),
    ("en", "how do I install the agent", SETUP_EN, "and the weather in Paris?", False),
    ("en", "how do I install the agent", SETUP_EN, "who won the world cup in 2022?", False),
    ("en", "how do I install the agent", SETUP_EN, "thanks, that is great", False),
    ("en", "Refund window of plan Pro?", REFUND_EN, "how are you?", False),
    ("en", "Refund window of plan Pro?", REFUND_EN, "what about Tesla shares?", False),
    ("en", "Refund window of plan Pro?", REFUND_EN, "write a poem about cats", False),
    ("es", "¿cuándo llega mi pedido?", SHIPPING_ES, "¿y si no llega?", True),
    ("es", "¿cuándo llega mi pedido?", SHIPPING_ES, "y a las islas?", True),
    ("es", "¿cuándo llega mi pedido?", SHIPPING_ES, "¿cuánto cuesta?", True),
    ("es", "¿cuándo llega mi pedido?", SHIPPING_ES, "¿y el envío exprés?", True),
    ("es", "¿cuándo llega mi pedido?", SHIPPING_ES, "¿por qué?", True),
    ("es", "olvidé mi contraseña", PASSWORD_ES, "¿y en la aplicación móvil?", True),
    ("es", "olvidé mi contraseña", PASSWORD_ES, "¿cómo lo hago?", True),
    ("es", "olvidé mi contraseña", PASSWORD_ES, "¿cuándo caduca ese enlace?", True),
    ("es", "olvidé mi contraseña", PASSWORD_ES, "no entiendo", True),
    ("es", "olvidé mi contraseña", PASSWORD_ES, "¿cuál es la capital de Brasil?", False),
    ("es", "olvidé mi contraseña", PASSWORD_ES, "¿y la capital de Francia?", False),
    ("es", "olvidé mi contraseña", PASSWORD_ES, "muchas gracias", False),
    ("es", "¿cuándo llega mi pedido?", SHIPPING_ES, "¿quién ganó la liga?", False),
    ("es", "¿cuándo llega mi pedido?", SHIPPING_ES, "¿cómo cambio mi dirección de correo?", False),
    ("es", "¿cuándo llega mi pedido?", SHIPPING_ES, "¿quién eres?", False),
    ("vi", "gói Pro hoàn tiền trong bao lâu?", PLANS_VI, "còn gói Basic thì sao?", True),
    ("vi", "gói Pro hoàn tiền trong bao lâu?", PLANS_VI, "con goi Basic thi sao", True),
    ("vi", "gói Pro hoàn tiền trong bao lâu?", PLANS_VI, "thế còn thẻ quốc tế?", True),
    ("vi", "gói Pro hoàn tiền trong bao lâu?", PLANS_VI, "mất bao lâu?", True),
    ("vi", "gói Pro hoàn tiền trong bao lâu?", PLANS_VI, "vì sao?", True),
    ("vi", "tôi quên mật khẩu", LOGIN_VI, "làm thế nào?", True),
    ("vi", "tôi quên mật khẩu", LOGIN_VI, "còn tài khoản bị khóa?", True),
    ("vi", "tôi quên mật khẩu", LOGIN_VI, "cái đó hết hạn khi nào?", True),
    ("vi", "tôi quên mật khẩu", LOGIN_VI, "thủ đô của Brazil là gì?", False),
    ("vi", "tôi quên mật khẩu", LOGIN_VI, "còn thời tiết Hà Nội?", False),
    ("vi", "tôi quên mật khẩu", LOGIN_VI, "cảm ơn bạn nhiều", False),
    ("vi", "tôi quên mật khẩu", LOGIN_VI, "bạn là ai?", False),
    ("vi", "gói Pro hoàn tiền trong bao lâu?", PLANS_VI, "ai vô địch World Cup 2022?", False),
    ("vi", "gói Pro hoàn tiền trong bao lâu?", PLANS_VI, "kể một câu chuyện cười", False),
]
