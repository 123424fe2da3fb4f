"""The language of a sample of a text, by function words and scripts: no model, and no answer where it is unsure."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache

FUNCTION_WORDS = {
    "cs": "a aby ale ani asi až bez bude budou by byl byla bylo byly být co další do i jak jako je jeho jej jejich "
    "její jen ji jsem jsi jsme jsou jste k kde kdo kdy když ke která které který kteří mezi mi mně mít mě může můžete "
    "na nad nebo není než nic o od on ona oni po pod podle pokud pouze pro proto protože před při pří s se si své "
    "svůj ta tak také tato ten tento to toho tohoto tom tomto tu této tím u už v ve vám vás více však z za zde ze či "
    "že",
    "da": "af alle at blev da de dem den der deres det dig du efter eller en end er et for fra før ham han hans har "
    "havde hende hun hvad hvis hvor i ikke ind jeg jer kan kom kun kunne lidt man med meget men mig min mod må ned "
    "nogen noget nu når og også om op os over på sig sin skal skulle som så sådan til ud under var ved vi vil ville "
    "være været",
    "de": "aber alle als am an auch auf aus bei beim bis das dass dem den der des die diese diesem diesen dieser "
    "dieses doch du durch ein eine einem einen einer eines er es für haben hat hatte hier ich ihm ihn ihr ihre ihrer "
    "im in ist ja kann kein keine können man mehr mein mich mir mit muss nach nicht noch nur ob oder ohne sein seine "
    "sich sie sind so um und uns unter vom von vor war waren was wenn werden wie wir wird wo wurde zu zum zur zwei "
    "über",
    "en": "a about all also an and any are as at be been but by can could did do does for from had has have he her "
    "him his how i if in into is it its just like more my no not of on one only or other our out she should so some "
    "than that the their them then there these they this to up use was we were what when where which who will with "
    "would you your",
    "es": "a al algo como con cuando de del desde donde dos e el ella ellos en entre era es esa ese eso esta este "
    "esto estos está están fue ha hasta hay he la las le les lo los me mi mientras muy más nada ni no nos o otra otro "
    "para pero por porque que quien qué se ser si sin sobre son su sus sí también te tengo tiene todo todos tu tú un "
    "una uno usted y ya yo él",
    "fi": "ei eikä en enemmän ennen ettei että hän hänen häntä ja jo joka jos jota jotka kaikki kanssa kuin kuinka "
    "kun me meidän mikä minulla minun minä mitä mukaan mutta muun myös ne niin niitä noin nyt ole olen olet oli "
    "olivat olla on ovat pois se sekä sen siellä siitä sinä sitä tai te tämä tämän tässä vai vain voi",
    "fr": "afin alors au aucun aussi autre aux avec avoir ayant ce cela celle celui ces cet cette ceux chaque comme "
    "dans de des deux dont du elle elles en est et eux fait il ils je jusqu l la le les leur leurs lors lui mais me "
    "mes moi mon même ne nos notre nous on ont ou où par pas peu peut plus pour pouvez qu quand que quel qui sa sans "
    "se ses si son sont sous sur ta te ton tous tout tu un une vers vos votre vous y à était être",
    "hu": "a az azok azt csak de ebben egy el ez ezek ezt fel ha hanem hogy is kell ki le lehet ma meg mert mi minden "
    "mint mivel most még nagyon ne nem nincs olyan pedig s sem szerint te tehát után vagy van vannak volt voltak én "
    "és ő",
    "is": "af allt annað að bara ef eftir eins ekki en er ert eru eða frá fyrir fékk hafa hafði hann hans hefur "
    "hennar henni honum hvar hvað hver hvernig hér hún inn kom með mig mjög má mér mín nema nú og okkur sagði sem sig "
    "sinn skal svo sér sín til um undir upp var vera verið verður vil við yfir á án ég í út þar þau það þegar þeim "
    "þeir þeirra þess þessi þetta þið því þá þær þú",
    "it": "a ai al alla alle anche avere c che chi ci come con cosa cui da dal dalla degli dei del della delle dello "
    "di dove e ed era essere fra fu gli ha hai hanno ho i il in io l la le lei li lo loro lui ma mi mia mio molto nel "
    "nella nelle noi non nostro o ogni per perché più poi può qualche quando quella quello questa questo se sei senza "
    "si sia sono su sua sul sulla suo suoi te ti tra tu tutti tutto un una uno voi è",
    "nb": "alle at av bare ble da de deg dem den der dere det din du eller en er et etter for fordi fra før ganske ha "
    "hadde han hans har henne hun hva hvis hvor hvordan i igjen ikke inn jeg kan kom kunne man med meg men mer mitt "
    "mot må noe noen nå når og også om opp oss over på seg selv si sin skal skulle slik som så til under ut var ved "
    "vi vil ville være vært",
    "nl": "aan al alleen als altijd andere ben bij dan dat de deze die dit doen door dus een en er ging had hadden "
    "heb hebben heeft hem het hier hij hoe hun iets ik in is ja je jij jullie kan kon kunnen maar me meer men met mij "
    "mijn moet na naar niet niets nog nu of om omdat onder ons ook op over te tegen toen tot u uit van veel voor was "
    "wat we wel werd werden wij wil worden wordt zal ze zelf zich zij zijn zo zonder zou",
    "pl": "a aby ale ani bardzo bez bo być był była było były chce ci co czy dla dlaczego do gdy gdzie go i ich ile "
    "im ja jak jako je jego jej jest jestem jeszcze już każdy kiedy kto która które który lub ma mam mi mnie może "
    "można mój na nad nam nas nasz nie niego nim niż o od on ona oni oraz po pod przed przez przy sam się swoje są ta "
    "tak także tam te tego tej ten to toba tylko tym u w we więc wszystko z za że",
    "pt": "a ao aos as até com como da das de dela dele deles depois do dos e ela elas ele eles em entre era essa "
    "esse esta estava este está eu foi for há isso isto já lhe mais mas me mesmo meu minha muito na nas nem no nos "
    "num numa não nós o os ou para pela pelas pelo pelos por porque qual quando que quem se sem ser seu sua são só "
    "também te tem tinha tu um uma você vocês às é",
    "ro": "a aceasta această acest al ale am ar are atunci au avea aș așa ași care ce cea cei cel cine cu cum când că "
    "da dacă dar de decât din după ea ei el este eu fi fie fost la le lor lui mai mult nici noi nu o pe pentru prin "
    "sa sale sau se sub sunt să te tot un una unde unei unui va voi vă îi îl în între își și",
    "sv": "alla att av bara blev de dem den denna deras dess det detta dig din du där efter ej eller en er ett från "
    "för ha hade han hans har henne hennes hon hur här i icke ingen inte jag kan kunde man med mellan men mig min mot "
    "mycket ni nu när någon något och om oss på sedan sig sin sina ska skulle som så till under upp ut vad var vara "
    "varit vart vi vid vilken är över",
    "tr": "acaba ama ancak artık bana bazı belki ben beni benim bir biraz biri birkaç birçok biz bizim bu buna bunlar "
    "bunu bunun burada böyle da daha de değil diye diğer dolayı en eğer gibi göre hem hep her hiç ile ise için işte "
    "kadar kendi ki kim kimse mi mu mü mı nasıl ne neden nerede nin niye o olan olarak oldu olduğu olduğunu ona onlar "
    "onu onun orada sadece sen seni senin siz sizin sonra tarafından tüm var ve veya ya yani yok zaman çok çünkü şey "
    "şimdi şu",
}
"""Language → its most frequent function words, for languages in the Latin script."""

SCRIPTS = {
    "ko": "\uac00-\ud7a3\u1100-\u11ff",
    "ja": "\u3040-\u30ff",
    "zh": "\u4e00-\u9fff",
    "ru": "\u0400-\u04ff",
    "el": "\u0370-\u03ff",
    "ar": "\u0600-\u06ff",
    "he": "\u0590-\u05ff",
    "hi": "\u0900-\u097f",
    "th": "\u0e00-\u0e7f",
}
"""Language → the characters that only it has, of those that are identified here."""

_WORD = re.compile(r"[^\W\d_]+")
_SCRIPTED = {language: re.compile(f"[{characters}]") for language, characters in SCRIPTS.items()}

_MIN_EVIDENCE = 12.0
_MIN_SHARE = 0.05
_MIN_RATIO = 1.6
_MIN_TYPES = 6  # a name that is a word elsewhere, such as Tom, may be in every sentence
_MIN_SCRIPT = 0.3


def sample_language(texts: Iterable[str]) -> str | None:
    """Identify the language that most of a sample is in, by all its words together; None where it is unsure."""
    evidence: dict[str, float] = defaultdict(float)
    types: dict[str, set[str]] = defaultdict(set)
    letters = words = 0
    scripted: Counter[str] = Counter()
    for text in texts:
        for word in _WORD.findall(text.lower()):
            words += 1
            letters += len(word)
            for language, weight in _languages_of(word):
                evidence[language] += weight
                types[language].add(word)
            if not word.isascii():
                for language, pattern in _SCRIPTED.items():
                    scripted[language] += len(pattern.findall(word))
    if scripted["ja"]:
        scripted["ja"] += scripted.pop("zh", 0)
    for script, count in scripted.most_common(1):
        if letters and count / letters >= _MIN_SCRIPT and count >= _MIN_EVIDENCE:
            return script
    ranking = sorted(evidence.items(), key=lambda item: -item[1])
    (first, highest), (_, second) = [*ranking, ("", 0.0), ("", 0.0)][:2]
    if highest < max(_MIN_EVIDENCE, _MIN_SHARE * words, _MIN_RATIO * second) or len(types[first]) < _MIN_TYPES:
        return None
    return first


def suspected_language(texts: Iterable[str], expected: str) -> str | None:
    """The language that a few words point to, where no function word of the expected one stands beside them."""
    if expected not in FUNCTION_WORDS:
        return None
    evidence: dict[str, float] = defaultdict(float)
    types: dict[str, set[str]] = defaultdict(set)
    for text in texts:
        for word in _WORD.findall(text.lower()):
            for language, weight in _languages_of(word):
                if language == expected:
                    return None
                evidence[language] += weight
                types[language].add(word)
    several = [language for language, words in types.items() if len(words) > 1]
    return max(several, key=lambda language: (evidence[language], language), default=None)


def likeness(text: str, language: str) -> float:
    """Share of the words of a text that are function words of a language, or of its letters in the script of one."""
    words = _WORD.findall(text.lower())
    if language in _SCRIPTED:
        letters = sum(map(len, words))
        return len(_SCRIPTED[language].findall(text.lower())) / letters if letters else 0.0
    known = sum(weight for word in words for other, weight in _languages_of(word) if other == language)
    return known / len(words) if words else 0.0


def known_function_words() -> Sequence[str]:
    """The languages that `sample_language` knows, sorted."""
    return sorted([*FUNCTION_WORDS, *SCRIPTS])


@lru_cache(maxsize=1)
def _table() -> dict[str, tuple[tuple[str, float], ...]]:
    languages: dict[str, list[str]] = {}
    for language, words in FUNCTION_WORDS.items():
        for word in dict.fromkeys(words.split()):
            languages.setdefault(word, []).append(language)
    return {word: tuple((language, 1 / len(of)) for language in of) for word, of in languages.items()}


def _languages_of(word: str) -> tuple[tuple[str, float], ...]:
    return _table().get(word, ())
