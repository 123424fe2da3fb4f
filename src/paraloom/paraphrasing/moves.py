"""Parts of English sentences that may change places: clauses, times, aims, and who says what follows."""

from __future__ import annotations

import re
from typing import NamedTuple

_WORDS = r"the|an?|my|your|his|her|its|our|their|this|that|these|those|some|all|it|he|she|we|they|you|it's|there"
_FINITE = (
    r"is|are|was|were|has|have|had|will|can|cannot|could|would|should|may|might|must|does|do|did"
    r"|\w+n't|\w+ed|it's|[a-z]+'ll|[a-z]+'d"
)
_JOINED = "and|but|or|so|that|which|who|what|how|because|if|when|while|since|though"
_SIMPLE = rf'(?:(?!\b(?:{_JOINED})\b| -)[^,;:.?!"()–—])'
_BEFORE = "after|although|as soon as|because|before|if|once|since|though|unless|until|when|whenever"
_BEHIND = "although|as soon as|because|if|unless|when|whenever|while"
_REPORT = (
    r"ask\w*|announced?|believ\w+|decid\w+|expect\w*|hop(?:e|es|ed)|intend\w*|kn[eo]w|knows|plan\w*|promis\w+"
    r"|sa(?:id|y|ys)|t(?:ell|old)|think|thinks|thought|want\w*"
)
BOUND = (
    rf"{_REPORT}|as|care|check|doubt|especially|even|except|find|forget|happens|hate|just|like|love|mainly|matter|mind"
    r"|not|only|reason|remember|see|seen|shows?|showed|sure|than|time|day|moment|understand|wonder\w*|\w+n't"
)
_ORDERS = (
    "please|click|press|select|choose|use|type|open|enter|see|go|set|run|add|check|make|try|take|call|tell|give|wait|come"
    "|put|turn|keep|leave|let|lock|close|bring|wash|write|read|ask|drop|stop|stay|call|raise|stand|sit|look|show|clean"
    "|wake|phone|visit|create|install|configure|remove|delete|copy|restart|double-click|right-click|drag|change|switch"
)
_AIMS = (
    "access|add|adjust|allow|apply|avoid|browse|change|check|close|configure|confirm|connect|copy|create|delete|disable"
    "|display|download|edit|enable|export|find|get|hide|import|install|learn|make|move|open|prevent|print|remove|rename"
    "|reset|restore|save|search|see|select|set|show|start|stop|switch|turn|update|upload|view"
)
DAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
MONTHS = "january|february|march|april|june|july|august|september|october|november|december"
_TIMES = (
    r"(?:yesterday|tomorrow)(?: morning| afternoon| evening| night)?|tonight"
    r"|this (?:morning|afternoon|evening|week|month|year)"
    rf"|(?:last|next) (?:night|week|month|year|summer|winter|spring|fall|{DAYS})|the other day"
    rf"|(?:\d+|two|three|four|five|six|ten|a few|several) (?:days|weeks|months|years|hours|minutes) ago"
    rf"|(?:in (?:{MONTHS})|on (?:{DAYS}))(?: (?:morning|afternoon|evening|night))?|in (?:1[5-9]|20)\d\d"
)
_PEOPLE = "i|you|he|she|it|we|they|tom|mary"
_SUBJECTS = rf"(?:{_WORDS}|i|i'm|i'll|i've|tom|mary|people|everyone|everybody|nobody|many|most)"
_PREPOSITIONS = "about|after|as|at|before|by|during|for|from|in|of|on|to|under|with"
_GROUPS = "researchers|scientists|experts|officials|analysts|farmers|growers|astronomers|biologists"
_TELLERS = (
    rf"he|she|they|{_GROUPS}|(?:the|an?) {_SIMPLE}{{3,40}}?"
    r"|(?!But|And|So|For|In|At|On|When|If|As|Yet|Tom|Mary)(?-i:[A-Z][\w.'’-]+ (?:[A-Z][\w.'’-]+ ){0,3}[A-Z][\w'’-]+)"
    r"|(?-i:[A-Z]{2,} (?:[\w.'’-]+ ){0,3}[A-Z][\w'’-]+)"
)
_LEADING = re.compile(
    rf"((?:(?:{_BEFORE})|(?:after|at|before|during|in|on) (?=[^,]*\d|(?-i:[A-Z])"
    r"|(?:our|my|his|her|their|the|most|some|many|humans|animals|winter|summer)\b"
    r"(?! (?:end|meantime|case|other|contrary|whole|first|last|one|event|long run|short|same|face|wake|light"
    r"|absence)\b)"
    rf"(?! (?:[a-z]+ ){{3}})))\b{_SIMPLE}{{4,80}}), "
    rf"((?:then )?(?!.*\b(?:{_REPORT})\b)(?=.*\b(?:{_FINITE})\b|(?:{_ORDERS}|{_PEOPLE}) [a-z])"
    rf"{_SIMPLE}{{6,100}})([.!]?)",
    re.IGNORECASE,
)
_TRAILING = re.compile(
    rf"((?!.*\b(?:{BOUND})\b)(?!{_SIMPLE}* is {_SIMPLE}* is )(?:{_SUBJECTS}|{_ORDERS})\b{_SIMPLE}{{6,100}}?)"
    r"(?<! is)(?<! was)(?<! would)(?<! will)(?<! can)(?<! does)(?<! did),?"
    r"(?<!soon)(?<!long)(?<!just)(?<!right)(?<!shortly)(?<!years)(?<!days)(?<!hours)(?<!minutes)(?<!weeks)(?<!months)"
    r"(?<! for)(?<! in)(?<! of)(?<! to)(?<! about)(?<! on) "
    rf"((?:(?:{_BEHIND}) {_SUBJECTS}\b|(?:before|after) (?:{_PEOPLE})\b"
    r"|(?:before|after|while) (?!thing|morning|evening|noon|spring)[a-z]+ing )"
    rf"{_SIMPLE}{{4,100}})([.!])",
    re.IGNORECASE,
)
_LAST_TIME = re.compile(
    rf"((?!.*\b(?:{_REPORT}|heard|hear|glad|happy|sorry|guess|suppose|feel|felt|wish|remember\w*|forg[eo]t\w*|seems?|let"
    rf"|try|tried|being)\b)(?!.* (?:i|he|she|we|they)\b){_SUBJECTS}\b{_SIMPLE}{{8,70}}?)"
    r"(?<! \b(?:is|of|by|or|as))(?<! (?:was|for|and|all|not|the))"
    r"(?<! (?:were|from|till|than|like|even|only|just))(?<! (?:since|until|about|after|early|later|first))(?<! before)"
    rf" ({_TIMES})([.!])",
    re.IGNORECASE,
)
_FIRST_TIME = re.compile(
    rf"({_TIMES}),? ((?!.*\b(?:{_REPORT})\b)(?!.* (?:i|he|she|we|they)\b){_SUBJECTS}\b(?! (?:{DAYS}))"
    rf"(?=.*\b(?:{_FINITE})\b){_SIMPLE}{{8,70}})([.!])",
    re.IGNORECASE,
)
_CLICKS = (
    "click|press|select|choose|use|type|open|enter|go|look|see|drag|double-click|right-click|tap|install|run|turn|hold"
    "|swipe"
)
_FIRST_AIM = re.compile(
    r"((?:in order )?to (?!be\b|my\b|me\b)[a-z]+ [^,;:.?!\"()]{4,70}), "
    rf"((?:{_CLICKS}|you (?:can|need|must|have|should|may))\b(?!.*\b(?:and|it|them|this|these|to)\b)"
    r"[^,;:?!\"()]{4,80}?)(\.)",
    re.IGNORECASE,
)
_LAST_AIM = re.compile(
    rf"((?:{_CLICKS})\b(?!.*\b(?:and|or|if|that|which|when|where|what|how|you)\b)[^,;:.?!\"()]{{4,60}}?)"
    r"(?<! want)(?<! need)(?<! like)(?<! able)(?<! have)(?<! wish)(?<! order)(?<! going)(?<! used)(?<! is)(?<! are)"
    rf" (to (?:{_AIMS})\b[^,;:.?!\"()]{{4,70}})(\.)",
    re.IGNORECASE,
)
_TOLD = re.compile(
    r"(?:(?=(?:he|she|they) )|(?!.*?\b(?:says?|said) (?:that )?(?:he|she|they|his|her|their|its)\b))"
    rf"((?:{_TELLERS}) (?:says?|said)) (?:that )?((?!(?:that|this|so|it|was|more|no|not|yes|only|last|later"
    rf"|earlier|today|how|what|why|who|where|if|when|{_PREPOSITIONS}|{DAYS}|{MONTHS})\b)"
    rf"[\w'’$-]+(?=.* (?:{_FINITE})\b)"
    r"(?!.*\b(?:but|which|says?|said|and (?:is|are|was|were|has|have|had|will|would|wants?|plans?|[a-z]+ed))\b)"
    r"[^;:?!\"“”]{12,140}?)([.]?)",
    re.IGNORECASE,
)
_PLAIN = rf"(?!.*\b(?:sorry|excuse|not that|can hardly)\b)(?:{_SUBJECTS}|this|that)\b{_SIMPLE}{{5,80}}"
_SO = re.compile(
    rf"({_PLAIN})(?<! ), so ((?!that\b|far\b)(?!.*\b(?:can|could|may|might)\b){_PLAIN})([.!])", re.IGNORECASE
)
_BUT = re.compile(rf"({_PLAIN})(?<! ), but ({_PLAIN})([.!])", re.IGNORECASE)
_BECAUSE = re.compile(rf"because ({_PLAIN}), ({_PLAIN})([.!])", re.IGNORECASE)
_ALTHOUGH = re.compile(rf"(?:although|though|even though) ({_PLAIN}), ({_PLAIN})([.!])", re.IGNORECASE)


class Move(NamedTuple):
    """Two parts of a sentence that change places, or stay (`conjunction`) with another conjunction.

    Attributes:
        name: Of the rule.
        pattern: Of the whole sentence; its groups are both parts and the end.
        comma: What stands between the parts where they changed places.
        clause: Whether the part that moves has a subject, so that pronouns might come to stand for another one.
        conjunction: Instead of changing places, how both parts are written.
    """

    name: str
    pattern: re.Pattern[str]
    comma: str = ""
    clause: bool = False
    conjunction: str = ""


MOVES = (
    Move("clause to the end", _LEADING, "", True),
    Move("clause to the front", _TRAILING, ",", True),
    Move("time to the front", _LAST_TIME, ","),
    Move("time to the end", _FIRST_TIME, ""),
    Move("aim to the end", _FIRST_AIM, ""),
    Move("aim to the front", _LAST_AIM, ","),
    Move("speaker to the end", _TOLD, ","),
    Move("because for so", _SO, conjunction="because {}, {}"),
    Move("so for because", _BECAUSE, conjunction="{}, so {}"),
    Move("although for but", _BUT, conjunction="although {}, {}"),
    Move("but for although", _ALTHOUGH, conjunction="{}, but {}"),
)
_DONE = (
    "built|made|caught|bought|brought|found|founded|sent|held|led|hit|hurt|taught|won|paid|heard|attacked"
    "|arrested|killed|destroyed|damaged|rescued|invented|designed|surprised|painted|directed|discovered|invaded"
    "|conducted|repaired|composed|published|produced|developed|organized|deceived|injured|robbed|followed"
    "|elected|adopted|approved|rejected|approached|scolded|shocked|annoyed|impressed|influenced|inspired"
    "|interrupted|selected|chased|scared|frightened|stung|helped|caused|sponsored|funded|raised|solved|canceled"
    "|reviewed|abandoned|replaced|ignored|criticized|praised|domesticated|struck"
)
PAST = {
    **{"written": "wrote", "stolen": "stole", "bitten": "bit", "eaten": "ate", "taken": "took"},
    **{"broken": "broke", "drawn": "drew", "shaken": "shook"},
}
"""Participle of a passive → past tense, where that is another word."""
OBJECTS = {"he": "him", "she": "her", "i": "me", "we": "us", "they": "them", "tom": "Tom", "mary": "Mary"}
"""Subject of a passive → object of an active sentence, where that is not the same in small letters."""
_ELSEWHERE = (
    r"\b(?:when|while|because|since|before|as|so|but|to|for (?:being|not)|in \d+|yesterday|today|ago|last)\b"
    r"|\band (?!(?:the|an?|my|his|her|our) |[A-Z])"
)
"""After the doer, or a second verb."""
_NOT_DOERS = (
    "river|window|side|door|end|time|way|dozen|hour|sea|fire|road|beach|same|first|second|next|beginning|age|name"
    "|thousands|lake|water|wall|light|skin|collar|hand|arm|nose|ear|throat|elbow|lakeside|roadside|pool|job|piece"
    "|year|day|week|month|minute"
)
PASSIVE = re.compile(
    rf"((?i:(?:the|my|his|her|our|their|this|that) [a-z]+(?: (?!he|that|who)[a-z]+)?|it|{'|'.join(OBJECTS)}))"
    rf" (?:was|were) ({_DONE}|{'|'.join(PAST)}) by (?!.*(?:{_ELSEWHERE}))"
    rf"((?:the|an?|my|his|her|their|our|Tom|Mary|many|several|some|two|three)\b(?! (?:{_NOT_DOERS})s?\b)"
    r"[^,;:.?!\"()]{2,30})\."
)
"""Who or what something was done to, the participle, and who did it."""
SMALL = re.compile(
    rf"(?:{_WORDS}|{_BEFORE}|{_ORDERS}|(?!on [a-z]+day|in [jfmasond]){_TIMES}|at|during|in|on|to|people|everyone"
    rf"|everybody|nobody|many|most|{_GROUPS})\b",
    re.IGNORECASE,
)
"""What has a capital only where it begins a sentence."""
PRONOUN = re.compile(r"\b(?:he|she|it|they|him|her|them|his|its|their)\b", re.IGNORECASE)
OF_NOBODY = re.compile(
    r"(?i:at|during|in|on)\b.*|(?i:(?:[a-z]+ ){1,3}?(?:i|i'm|i'll|you|you're|we|we're)\b"
    r"|(?:before|after|while) [a-z]+ing\b)(?!.*\b(?:the|an?|my|your|his|her|our|their|this|that|these|those|he|she|they"
    r"|him|them|us|(?!I\b)[A-Z])).*"
)
"""A place or time, or a clause that has no name, and no noun that a pronoun outside might stand for."""
