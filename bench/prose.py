"""Text that looks like text to a parser: words of all lengths, sentences, paragraphs. *Pure.*"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random

WORDS = (  # noqa: SIM905  (a list literal would fill the screen)
    "a about across after again against all almost along also although always among an and any "
    "are around as at autumn away bark because become before began below between birch boat "
    "border branch bridge bring brook build by canal careful carry cellar centre chalk change "
    "clear climate close coast collect colour common compost could country cover cross current "
    "danger depend different difficult drainage during early earth edge either enough estuary "
    "every example far fence few field first flood flower follow footpath for forest found from "
    "garden gate gather general glass granite grass gravel great ground group grow habitat half "
    "harbour harvest heather hedge height here high history hour however important in increase "
    "inside instead into island it keep kitchen known lake large late lead leave level light "
    "limestone little local long lower many marsh material meadow measure might month moorland "
    "more morning most mountain much narrow near neighbour never north nothing observation of "
    "often old on once only open orchard other over particular pasture path people perhaps place "
    "plant pond possible produce quarry quiet quite railway rain rather reach record reed reserve "
    "return ridge river road rock roof round sand season second seed several shade shelter shore "
    "should since slope small snow soil some south species spring station still stone stream such "
    "summer surface temperature than that the their then there these thick though three through "
    "timber time to together toward town track tree under until upper valley various vegetation "
    "village visitor walk wall warm water weather well west wetland when where which while wide "
    "wild willow wind winter with within without wood work year yellow"
).split()


def title(random: Random) -> str:
    return " ".join(random.choices(WORDS, k=random.randint(3, 7))).capitalize()


def sentence(random: Random) -> str:
    words = random.choices(WORDS, k=random.randint(6, 18))
    if len(words) > 12:
        words[5] += ","
    return " ".join(words).capitalize() + "."


def paragraph(random: Random) -> str:
    """With the inline markup of an article, but no links."""
    sentences = [sentence(random) for _ in range(random.randint(3, 6))]
    for tag in ("em", "strong"):
        if random.random() < 0.5:
            place = random.randrange(len(sentences))
            sentences[place] = f"<{tag}>{sentences[place]}</{tag}>"
    return " ".join(sentences)
