"""The words by which `follow_up` reads a short message, per language.

Small on purpose: a word that is missing makes a message look more of its own topic than it is, and
then only its own search decides. Words are matched without accents, except openers, where the
accent tells "e" (and) from "é" (is).
"""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.text.tokens import fold


@dataclass(frozen=True, slots=True)
class Words:
    """One language's words.

    `openers` begin a message that goes on with the one before. `pointers` stand for something said
    before. `asks` are question words. `stop` carry no meaning alone. `aspects` ask about a thing
    without naming it: how long, how much, what happens. `assents` accept an offer; `courtesies`
    ask nothing; `chat` are phrases about the bot itself.
    """

    openers: frozenset[str]
    pointers: frozenset[str]
    asks: frozenset[str]
    stop: frozenset[str]
    aspects: frozenset[str]
    assents: frozenset[str]
    courtesies: frozenset[str]
    chat: tuple[str, ...]


def _plain(words: str) -> frozenset[str]:
    return frozenset(fold(words).split())


_PT = Words(
    openers=frozenset("e mas ou então entao aí daí".split()),
    pointers=_plain(
        """ele ela eles elas dele dela deles delas nele nela isso isto esse essa esses essas desse
        dessa disso deste desta este esta aquele aquela aquilo outro outra outros outras lá lo la
        los las mesmo mesma também ambos ambas"""
    ),
    asks=_plain(
        """qual quais quem que quê como quando onde quanto quanta quantos quantas cadê q qm qdo qnd
        qto qtos qta qtas cmo pq"""
    ),
    stop=_plain(
        """a o as os à às ao aos um uma uns umas de do da dos das em no na nos nas por pelo pela
        pelos pelas per para pra pro pras pros com sem sob sobre entre até desde e ou mas nem se
        porque pois então é são ser era eram foi foram seja está estão estou estar tá tão tem têm
        tenho ter tinha teve há vai vou vão ir eu tu você vocês vc vcs nós gente me te lhe se meu
        minha meus minhas seu sua seus suas nosso nossa não nao já ainda só muito mais menos bem
        aqui agora depois antes sempre nunca algum alguma todo toda todos todas tudo nada aí daí
        tiver estiver for ficar fica ficou p n d ta to eh hj vc vcs tb tbm mto mt dnv aki so por
        favor"""
    ),
    aspects=_plain(
        """máximo máxima mínimo mínima vence vencer venceu vencido vencida caem cai cair caiu volta
        voltam voltar demora demorar demoram tempo prazo custa custam custar custo preço valor taxa
        limite funciona funcionam funcionar faço faz fazem fazer fiz fizer acontece acontecer
        aconteceu chega chegam chegar chegou chegue pode podem posso poder preciso precisa precisar
        quero queria quiser gostaria saber sei sabe dá dar der deu certo errado vejo ver consigo
        consegue conseguir conseguiu vale valem valer serve dura durar começa termina acaba muda
        existe jeito forma maneira passo passos coisa motivo razão entendi entendo explica explicar
        explique repete repetir repita conta conte vez vezes detalhe detalhes melhor exemplo
        continua continue adianta resolve resolver resolveu"""
    ),
    assents=_plain(
        "sim claro quero pode isso ok okay beleza certo por favor exato ótimo bora manda aceito"
    ),
    courtesies=_plain(
        """oi olá ola bom boa dia tarde noite obrigado obrigada obg valeu vlw tchau tudo bem legal
        perfeito ok okay beleza certo entendido não nao sim claro ótimo muito grato grata"""
    ),
    chat=(
        "quem é você",
        "o que você faz",
        "o que você sabe",
        "o que você pode fazer",
        "como você está",
        "como vai você",
        "que horas são",
        "que dia é hoje",
    ),
)

_EN = Words(
    openers=frozenset("and but or so then also".split()),
    pointers=_plain(
        """it its they them their that this those these one ones other others another same there he
        she him her too both either neither else"""
    ),
    asks=_plain("what which who whom whose how when where why whats"),
    stop=_plain(
        """a an the of in on at by for from to into with without about over under between until and
        or but nor if because so then also as than is are am be been was were do does did done doing
        have has had having will would can could should may might must shall i you we us my me your
        our mine yours not no yes any some all every each just only very more most less here now
        after before again still yet already please s t re ve ll don doesn didn isn aren won can
        cannot up out off there"""
    ),
    aspects=_plain(
        """maximum minimum expire expires expired long much many often time takes take took taking
        cost costs price fee limit deadline work works working happens happen happened arrive
        arrives arrived come comes need needs want get gets got know tell say see find use using
        make makes let lets last lasts start starts end ends change changes way thing things reason
        step steps mean means understand understood explain repeat year detail details example
        continue sure right wrong fails failed possible"""
    ),
    assents=_plain("yes yeah yep sure ok okay please do go ahead right exactly absolutely great"),
    courtesies=_plain(
        """hi hello hey good morning afternoon evening night thanks thank you so much bye goodbye
        great perfect nice cool ok okay fine alright got it no nope yes yeah sure cheers very"""
    ),
    chat=(
        "who are you",
        "what are you",
        "what can you do",
        "what do you do",
        "how are you",
        "what time is it",
        "what day is it",
    ),
)

_ES = Words(
    openers=frozenset("y e pero o u entonces".split()),
    pointers=_plain(
        """él ella ellos ellas eso esto ese esa esos esas este esta estos estas aquel aquella
        aquello otro otra otros otras lo mismo misma también allí allá ambos ambas demás"""
    ),
    asks=_plain(
        "cuál cuáles quién quiénes qué cómo cuándo dónde cuánto cuánta cuántos cuántas por qué"
    ),
    stop=_plain(
        """el la los las un una unos unas lo al del de a en por para con sin sobre entre hasta desde
        y e o u ni pero si que porque pues entonces es son ser era eran fue fueron sea está están
        estoy estar hay ha he han haber tiene tienen tengo tener va voy van ir yo tú usted ustedes
        nosotros me te se le les nos mi mis tu tus su sus nuestro nuestra no ya aún todavía solo muy
        más menos bien aquí ahora después luego antes siempre nunca algún alguna todo toda todos
        todas nada por favor"""
    ),
    aspects=_plain(
        """máximo máxima mínimo mínima vence venció vencido tarda tardan tardar demora demoran
        tiempo plazo cuesta cuestan costar costo coste precio valor tarifa límite funciona funcionan
        funcionar hago hace hacen hacer hice pasa pasar pasó ocurre llega llegan llegar llegó llegue
        puede pueden puedo poder necesito necesita quiero quisiera saber sé sabe da dar dio ver veo
        consigo vale valen sirve dura durar empieza termina acaba cambia existe manera forma paso
        pasos cosa motivo razón entiendo entendí explica explicar explique explícame cuéntame repite
        repetir vez detalle detalles mejor ejemplo continúa resuelve"""
    ),
    assents=_plain("sí claro quiero ok okay vale dale bueno por favor exacto adelante genial"),
    courtesies=_plain(
        """hola buenos buenas buen día días tardes noches gracias muchas muchísimas adiós chao vale
        perfecto genial ok okay bien bueno no sí claro entendido listo muy de acuerdo"""
    ),
    chat=(
        "quién eres",
        "quién es usted",
        "qué puedes hacer",
        "qué haces",
        "cómo estás",
        "qué hora es",
        "qué día es hoy",
    ),
)

_VI = Words(
    openers=frozenset("còn con thế vậy vay nhưng nhung rồi roi và va hay hoặc".split()),
    pointers=_plain("nó đó này kia ấy đấy họ chúng vậy thế khác nữa cũng luôn kìa"),
    asks=_plain("gì nào ai đâu sao bao mấy khi chưa không"),
    stop=_plain(
        """là thì mà và hay hoặc nhưng nếu vì do nên của cho với từ đến tới ở trong ngoài trên dưới
        về bằng được bị có không chưa đã đang sẽ rồi còn vẫn cũng chỉ rất quá hơn nhất tôi mình em
        anh chị bạn ta chúng các những một mỗi mọi cái chiếc con người ạ à nhé nha vậy thế ra vào
        lên xuống lại xin hãy đi nào gì sao đâu ai khi lúc bao nhiêu mấy lâu giờ"""
    ),
    aspects=_plain(
        """tối đa thiểu hết hạn mất tốn phí giá thời gian hạn mức hoạt động làm xảy thể cần phải
        muốn biết thấy dùng xem hiểu giải thích giúp lặp nhắc ví dụ cách bước việc lý lí do chi tiết
        tiếp theo kéo dài bắt đầu kết thúc thay đổi"""
    ),
    assents=_plain("có vâng dạ ừ ừm ok okay được đúng rồi muốn đồng ý"),
    courtesies=_plain(
        """xin chào chào bạn cảm ơn cám nhiều tạm biệt ok okay tốt rồi được vâng dạ ừ không hiểu đã
        em anh chị nhé ạ hay quá"""
    ),
    chat=(
        "bạn là ai",
        "bạn làm được gì",
        "bạn có thể làm gì",
        "bạn khỏe không",
        "mấy giờ rồi",
        "hôm nay là ngày mấy",
    ),
)

WORDS = {"pt": _PT, "en": _EN, "es": _ES, "vi": _VI}
"""By ISO 639-1 code. A language without an entry has no follow-ups but the shortest."""
