"""What questions, polite requests and thanks begin with or consist of, in English, German, French and Spanish: the data of `replies`.

Only what is plain stands here. "When" and "quand" also begin wishes ("when it is done, post it"), so they count with a verb behind them.
"""

import re


def _one_of(*patterns: str) -> str:
    return "(?:" + "|".join(patterns) + ")"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


LEAD = r"(?:(?:and|so|ok(?:ay)?|hey|hi|but|hm+|please|sorry|actually|maybe|perhaps|und|et|y)\b[\s,:-]*)*"
ABOUT = r"(?:it|this|that|there|the|step|all|any\w*|everything|everyone|we|you|they|he|she|i|[a-z]+ing)\b"

# A question mark after one of these is politeness: it may well be a change.
REQUEST = re.compile(
    LEAD
    + _one_of(
        r"(?:can|could|would|will|may|might|should|shall)(?:n['’]?t|['’]?t)? (?:you|we|i|the bot)\b|(?:can|could) (?:it|this|that)\b",
        r"what about\b|how about\b|what if\b|why not\b|why don['’]?t (?:you|we)\b|let['’]?s\b|also\b|(?:do|would) you mind\b",
        r"is it (?:ok|okay|possible)\b",
        r"(?:kannst|könntest|können|könnten|könnt|würdest|würden|magst) (?:du|sie|ihr|wir)\b|bitte\b|lasst? uns\b|wie wäre\b",
        r"(?:peux|pourrais)[ -]tu\b|(?:pouvez|pourriez|pourrions|peut)[ -](?:vous|nous|on)\b|et si\b|s['’]il (?:te|vous) pla[iî]t",
        r"est-ce que (?:tu|vous|on|nous) p(?:eu|ou)",
        r"¿? ?(?:puedes|podrías|podrias|puede|podría|podemos|podríamos|y si|qué tal|que tal|por favor)\b",
    ),
    re.IGNORECASE,
)

QUESTION = re.compile(
    LEAD
    + _one_of(
        r"(?:what|which|who|where|when|why|how)(?:['’]?s| is| are| was| were| does| do| did| has| have| had| will| would| can)\b",
        r"(?:what|which) (?:steps?|files?|channels?|happen(?:s|ed)?|remains?|next|now)\b",
        r"who (?:approved|asked|said|stopped|paused|started|made|wrote|changed|can|may|must|needs)\b",
        r"how (?:long|many|much|far|often|come|soon|late)\b|why (?!not\b)\S+|any (?:news|progress|update)\b",
        rf"(?:is|are|was|were|will|did|does|has|have|had) {ABOUT}",
        r"(?:warum|wieso|weshalb|wann|wer|wen|wem|wessen)\b|wo (?:ist|sind|steht|liegt|bleibt)\b",
        r"wie (?:lange|viele?|weit|oft|spät|ist|geht|läuft|steht|war)\b",
        r"was (?:ist|sind|war|hat|macht|passiert|fehlt|bleibt|wird|steht|kommt|läuft)\b|welche[rsnm]?\b",
        r"(?:ist|sind|hat|haben|wird|läuft|kommt) (?:es|er|sie|das|der|die|den|schritt)\b",
        r"qu['’]est-ce|est-ce qu|pourquoi\b|combien\b|quand (?:est|sera|va|aura|as|a)\b|comment (?:ça|va|est|se)\b",
        r"où (?:en|est|sont)\b|quel(?:le)?s? (?:est|sont|étape|étapes)\b|qui (?:a|est|peut|doit)\b",
        r"¿|(?:qué|cuándo|cómo|cuánto|cuánta|cuántos|cuántas|quién|quiénes|dónde|cuál)\b|por qué\b",
    ),
    re.IGNORECASE,
)
ONE_WORD_QUESTIONS = _words("what why when who how where eta huh progress")

# A message is chatter if it holds one of these and nothing but these and the small words below.
CHATTER = _words(
    """thanks thank thx ty tysm cheers ok okay k kk okey cool nice nicely great good perfect awesome excellent amazing brilliant
    fantastic lovely super sweet neat wow wonderful lgtm fine yay haha hahaha lol hehe hi hello hey morning love understood noted roger
    agreed interesting impressive beautiful bravo congrats congratulations kudos np welcome
    danke dankeschön dank schön gut toll prima klasse spitze perfekt klar gerne hallo moin
    merci bien parfait génial bonjour salut bravo gracias bien perfecto genial hola vale estupendo excelente"""
)
SMALL = _words(
    """you so very much many a lot well done job work sounds looks it this that is was the for all team everyone folks indeed really
    vielen besten alles sehr das ist beaucoup très joué c'est muchas muy"""
)
NO_PROBLEM = re.compile(r"\b(?:no (?:problem|worries|rush)|not bad|well done|de nada|de rien|d['’]accord)\b", re.IGNORECASE)

# Control words inside a little politeness: "please stop it now".
WISHES = {"pause": "pause", "hold": "pause", "resume": "resume", "stop": "stop", "status": "status"}
AROUND = _words(
    """please pls now it this that the run bot here of everything immediately at once right away ok okay hey pullcord thanks thank you on
    bitte"""
)
