"""Texts of many languages in the code pages they are saved in are read right, or the page is asked for."""

from pathlib import Path

import pytest

from funnelling.errors import InputError
from funnelling.formats import read_documents

TEXTS: dict[tuple[str, str], list[str]] = {
    ("tr", "cp1254"): [
        "Bugün hava güneşli ve çok sıcak.",
        "Öğrenciler okula gitmek için otobüs bekliyor.",
        "Şehir merkezinde yeni bir müze açıldı.",
        "Takım maçı iki sıfır kazandı ve taraftarlar sevindi.",
        "Hükümet yeni vergi yasasını kabul etti.",
        "Bilim insanları aşı üzerinde çalışıyor.",
        "Ekonomi geçen yıla göre yavaşladı.",
        "Kitap fuarı önümüzdeki hafta başlıyor.",
        "Deniz kıyısında küçük bir ev aldılar.",
        "Işıklar söndü ve film başladı.",
        "Annem her sabah taze ekmek pişirir.",
        "Ağaçların yaprakları sonbaharda dökülür.",
    ],
    ("ro", "cp1250"): [
        "Guvernul a anunţat o creştere a salariilor în învăţământ.",
        "Echipa naţională a câştigat meciul de aseară.",
        "Preţurile la alimente au scăzut uşor luna trecută.",
        "Copiii merg la şcoală în fiecare dimineaţă.",
        "Muzeul de artă îşi deschide porţile sâmbătă.",
        "Cercetătorii au descoperit o nouă specie de peşte.",
        "Primăria va construi un parc lângă gară.",
        "Filmul a fost foarte bine primit de public.",
        "Banca a redus dobânda pentru creditele ipotecare.",
        "Vremea va fi însorită şi caldă la munte.",
        "Bunica face o prăjitură cu mere şi scorţişoară.",
        "Trenul a ajuns cu două ore întârziere.",
    ],
    ("hr", "cp1250"): [
        "Dječak čeka autobus ispred škole.",
        "Vlada je jučer donijela novi zakon o porezu.",
        "Reprezentacija je pobijedila u posljednjoj minuti utakmice.",
        "Cijene kuća na moru ponovno rastu.",
        "U kazalištu večeras igra nova predstava.",
        "Znanstvenici traže lijek protiv bolesti.",
        "Žene su pjevale cijelu noć.",
        "Grad će sljedeće godine graditi most.",
        "Mačka spava na krevetu pokraj prozora.",
        "Knjiga koju čitam vrlo je zanimljiva.",
        "Izvoz je veći nego prošle godine.",
        "Sutra očekujemo kišu i jak vjetar.",
    ],
    ("hu", "cp1250"): [
        "A kormány új adótörvényt fogadott el tegnap.",
        "A csapat két góllal győzött az esőben.",
        "A gyerekek reggel nyolckor mennek az iskolába.",
        "A kutatók új gyógyszert fejlesztettek ki.",
        "Erős szél és hűvös idő várható a hétvégén.",
        "A múzeum szombaton nyitja meg kapuit.",
        "Az árak lassabban nőttek, mint tavaly.",
        "A könyv nagyon érdekes, érdemes elolvasni.",
        "A vonat két órát késett a hó miatt.",
        "A nagymama süteményt süt az unokáknak.",
        "A bank csökkentette a kamatot.",
        "Fűszeres levest főzött vacsorára.",
    ],
    ("lt", "cp1257"): [
        "Vyriausybė priėmė naują mokesčių įstatymą.",
        "Vaikai kiekvieną rytą eina į mokyklą.",
        "Komanda laimėjo rungtynes paskutinę minutę.",
        "Kainos šiais metais kilo lėčiau.",
        "Mieste atidarytas naujas muziejus.",
        "Mokslininkai ieško vaistų nuo šios ligos.",
        "Rytoj bus šalta ir vėjuota.",
        "Močiutė kepa obuolių pyragą.",
        "Traukinys vėlavo dvi valandas.",
        "Knyga labai įdomi ir lengvai skaitoma.",
        "Bankas sumažino palūkanas.",
        "Žmonės džiaugiasi pavasariu.",
    ],
    ("lv", "cp1257"): [
        "Valdība vakar pieņēma jaunu nodokļu likumu.",
        "Bērni katru rītu iet uz skolu.",
        "Komanda uzvarēja spēli pēdējā minūtē.",
        "Cenas šogad pieauga lēnāk.",
        "Pilsētā atvērts jauns muzejs.",
        "Zinātnieki meklē zāles pret šo slimību.",
        "Rīt būs auksts un vējains laiks.",
        "Vecmāmiņa cep ābolu kūku.",
        "Vilciens kavējās divas stundas.",
        "Grāmata ir ļoti interesanta.",
        "Banka samazināja procentu likmi.",
        "Cilvēki priecājas par pavasari.",
    ],
    ("pl", "iso8859_2"): [
        "Rząd przyjął wczoraj nową ustawę o podatkach.",
        "Dzieci codziennie rano idą do szkoły.",
        "Drużyna wygrała mecz w ostatniej minucie.",
        "Ceny żywności rosną wolniej niż w zeszłym roku.",
        "W mieście otwarto nowe muzeum sztuki.",
        "Naukowcy szukają leku na tę chorobę.",
        "Jutro będzie zimno i wietrznie.",
        "Babcia piecze ciasto z jabłkami.",
        "Pociąg spóźnił się o dwie godziny.",
        "Książka jest bardzo ciekawa.",
        "Bank obniżył stopy procentowe.",
        "Ludzie cieszą się wiosną i słońcem.",
    ],
    ("cs", "cp1250"): [
        "Vláda včera schválila nový zákon o daních.",
        "Děti chodí každé ráno do školy.",
        "Tým vyhrál zápas v poslední minutě.",
        "Ceny potravin rostou pomaleji než loni.",
        "Ve městě otevřeli nové muzeum.",
        "Vědci hledají lék na tuto nemoc.",
        "Zítra bude zima a vítr.",
        "Babička peče koláč s jablky.",
        "Vlak měl dvě hodiny zpoždění.",
        "Kniha je velmi zajímavá.",
    ],
    ("sl", "cp1250"): [
        "Vlada je včeraj sprejela nov zakon o davkih.",
        "Otroci gredo vsako jutro v šolo.",
        "Ekipa je zmagala v zadnji minuti tekme.",
        "Jutri bo mrzlo in vetrovno, pravijo vremenoslovci na televiziji.",
        "Češnje so že zrele.",
    ],
    ("de", "cp1252"): [
        "Die Bürger wählten am Sonntag.",
        "Höhere Gebühren für Müll sind geplant.",
        "Der Bäcker öffnet früh.",
        "Köln grüßt die Gäste.",
    ],
    ("fr", "cp1252"): [
        "Les députés ont voté la loi hier soir.",
        "Le musée rouvre à Noël après six années.",
        "La crème brûlée est très sucrée.",
        "Où est passé le garçon ?",
        "Une soirée théâtre réussie.",
    ],
    ("it", "cp1252"): [
        "La città è più bella così.",
        "Perché no? Però è tardi.",
        "Il governo cadrà presto.",
        "La qualità del caffè è buona.",
    ],
    ("es", "cp1252"): [
        "El niño comió una manzana en el jardín.",
        "La educación pública está en crisis.",
        "¿Dónde está la estación?",
        "Mañana lloverá en todo el país.",
    ],
    ("da", "cp1252"): [
        "Børnene går i skole hver dag.",
        "Regeringen vedtog en ny lov i går.",
        "Vejret bliver blæsende og koldt på lørdag.",
        "Holdet vandt kampen i sidste øjeblik.",
    ],
    ("pt", "cp1252"): [
        "A educação pública não está bem.",
        "Amanhã choverá em todo o país.",
        "O avião chegou às três horas da manhã.",
        "As crianças estão na escola e não vêm.",
    ],
    ("sv", "cp1252"): [
        "Barnen går till skolan varje dag.",
        "Regeringen antog en ny lag i går.",
        "Vädret blir blåsigt på lördag.",
        "Laget vann matchen över förväntan.",
    ],
    ("is", "cp1252"): [
        "Ríkisstjórnin samþykkti ný lög í gær.",
        "Börnin fara í skólann á hverjum degi.",
        "Veðrið verður kalt og hvasst á morgun.",
        "Liðið vann leikinn á síðustu mínútu.",
    ],
}


def read(path: Path, texts: list[str], encoding: str) -> list[str]:
    path.write_bytes("".join(["text,label\n", *(f'"{text}",x\n' for text in texts)]).encode(encoding))
    return [document.text for document in read_documents(path)]


@pytest.mark.parametrize(("language", "encoding"), TEXTS)
def test_a_code_page_is_told_by_the_language(tmp_path: Path, language: str, encoding: str) -> None:
    texts = TEXTS[language, encoding]
    assert read(tmp_path / "d.csv", texts, encoding) == texts
    assert read(tmp_path / "few.csv", texts[:3], encoding) == texts[:3]


def test_a_file_may_hold_several_languages_of_one_code_page(tmp_path: Path) -> None:
    western = [text for (_, encoding), texts in TEXTS.items() if encoding == "cp1252" for text in texts]
    assert read(tmp_path / "d.csv", western, "cp1252") == western
    mixed = TEXTS["tr", "cp1254"] + TEXTS["de", "cp1252"]
    assert read(tmp_path / "d.csv", mixed, "cp1254") == mixed


@pytest.mark.parametrize("text", ["Città", "crème brûlée", "niño", "Sørensen", "„Käse“", "25 °C", "5 €"])
def test_a_western_word_is_enough(tmp_path: Path, text: str) -> None:
    assert read(tmp_path / "d.csv", [text], "cp1252") == [text]


def test_an_encoding_that_is_not_clear_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"may be in cp1250 or iso8859_2.*--encoding"):
        read(tmp_path / "d.csv", ["Naukowcy szukają leku na tę chorobę."], "iso8859_2")
