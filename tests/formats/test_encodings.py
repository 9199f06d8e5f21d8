"""UTF-8, UTF-16 with a mark and cp1252 are read; any other encoding is asked for, and read when named."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from funnelling.errors import InputError
from funnelling.formats import Layout, read_documents
from funnelling.formats.encoded import TextFile

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

WESTERN = {language: texts for (language, encoding), texts in TEXTS.items() if encoding == "cp1252"}
RUSSIAN = [
    "Правительство вчера приняло новый закон о налогах.",
    "Дети каждое утро ходят в школу.",
    "Завтра будет холодно и ветрено.",
]
CHINESE = ["政府昨天通过了新的税法。", "孩子们每天早上去学校。", "明天会很冷，有风。"]
OTHERS = {
    "cp1251": RUSSIAN,
    "koi8_r": RUSSIAN,
    "cp866": RUSSIAN,
    "cp1253": ["Η κυβέρνηση ψήφισε χθες νέο νόμο.", "Τα παιδιά πάνε κάθε πρωί στο σχολείο."],
    "cp1255": ["הממשלה אישרה אתמול חוק מס חדש.", "הילדים הולכים לבית הספר כל בוקר."],
    "cp1256": ["وافقت الحكومة أمس على قانون جديد.", "يذهب الأطفال إلى المدرسة كل صباح."],
    "cp874": ["รัฐบาลผ่านกฎหมายภาษีใหม่เมื่อวานนี้", "พรุ่งนี้จะหนาวและลมแรง"],
    "gbk": CHINESE,
    "big5": ["政府昨天通過了新的稅法。", "明天會很冷。"],
    "shift_jis": ["政府は昨日、新しい税法を可決した。", "カメラのテスト"],
    "euc_jp": ["政府は昨日、新しい税法を可決した。", "カメラのテスト"],
    "euc_kr": ["정부는 어제 새로운 세법을 통과시켰다.", "내일은 춥고 바람이 불 것이다."],
    "cp850": WESTERN["de"],
    "mac_roman": WESTERN["fr"],
}


def read(path: Path, texts: list[str], encoding: str, named: str | None = None) -> list[str]:
    path.write_bytes("".join(["text,label\n", *(f'"{text}",x\n' for text in texts)]).encode(encoding))
    return [document.text for document in read_documents(path, Layout(encoding=named))]


def refusal(path: Path, texts: list[str], encoding: str) -> str:
    with pytest.raises(InputError) as caught:
        read(path, texts, encoding)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("language", WESTERN)
def test_western_texts_are_read_as_cp1252(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, language: str
) -> None:
    with caplog.at_level("INFO", "funnelling"):
        assert read(tmp_path / "d.csv", WESTERN[language], "cp1252") == WESTERN[language]
    assert "d.csv: not UTF-8, read as cp1252. If letters look wrong, set --encoding." in caplog.text


@pytest.mark.parametrize("language", WESTERN)
def test_each_western_line_is_enough(tmp_path: Path, language: str) -> None:
    for text in WESTERN[language]:
        assert read(tmp_path / "d.csv", [text], "cp1252") == [text]


def test_a_file_may_hold_several_western_languages(tmp_path: Path) -> None:
    texts = [text for texts in WESTERN.values() for text in texts]
    assert read(tmp_path / "d.csv", texts, "cp1252") == texts
    (tmp_path / "d.json").write_bytes(
        json.dumps([{"text": text} for text in texts], ensure_ascii=False).encode("cp1252")
    )
    assert [document.text for document in read_documents(tmp_path / "d.json")] == texts


@pytest.mark.parametrize(
    "text", ["Città", "crème brûlée", "niño", "Sørensen", "„Käse“", "25 °C", "5 €", "m²"]
)
def test_a_western_word_is_enough(tmp_path: Path, text: str) -> None:
    assert read(tmp_path / "d.csv", [text], "cp1252") == [text]


@pytest.mark.parametrize("encoding", OTHERS)
def test_other_encodings_are_asked_for_and_then_read(tmp_path: Path, encoding: str) -> None:
    texts = OTHERS[encoding]
    message = refusal(tmp_path / "d.csv", texts, encoding)
    cure = "Save the file as UTF-8, or name its encoding with --encoding."
    assert message == f"{tmp_path / 'd.csv'}:2: neither UTF-8 nor cp1252 text. {cure}"
    assert read(tmp_path / "d.csv", texts, encoding, named=encoding) == texts


@pytest.mark.parametrize(("language", "encoding"), [key for key in TEXTS if key[1] != "cp1252"])
def test_latin_letters_of_other_code_pages_are_not_mistaken_for_western_ones(
    tmp_path: Path, language: str, encoding: str
) -> None:
    texts = TEXTS[language, encoding]
    assert "neither UTF-8 nor cp1252" in refusal(tmp_path / "d.csv", texts, encoding)
    assert read(tmp_path / "d.csv", texts, encoding, named=encoding) == texts


def test_a_line_behind_the_first_western_one_is_named(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_bytes("text\nKöln\nMüll\n".encode("cp1252") + b"\x81\n")
    with pytest.raises(InputError, match=r"d\.csv:4: not cp1252 text\..*--encoding"):
        list(read_documents(tmp_path / "d.csv"))


def test_texts_of_a_folder_are_judged_one_by_one(tmp_path: Path) -> None:
    for number, text in enumerate(["Rock·Pop®Folk", *WESTERN["de"]]):  # one odd sign is no matter
        (tmp_path / "x").mkdir(exist_ok=True)
        (tmp_path / "x" / f"{number}.txt").write_bytes(text.encode("cp1252"))
    assert len(list(read_documents(tmp_path))) == 5
    (tmp_path / "x" / "z.txt").write_bytes(RUSSIAN[0].encode("cp1251"))
    with pytest.raises(InputError, match=r"z\.txt:1: neither UTF-8 nor cp1252 text\."):
        list(read_documents(tmp_path))


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("name", ["d.csv", "d.jsonl", "d.txt"])
def test_utf_16_without_a_mark_is_asked_for(tmp_path: Path, name: str, encoding: str) -> None:
    content = '{"text": "Köln"}\n' if name == "d.jsonl" else "text\nKöln\n"
    (tmp_path / name).write_bytes(content.encode(encoding))
    with pytest.raises(InputError, match=rf"{name}:1: holds a NUL byte\..*--encoding"):
        list(read_documents(tmp_path / name))
    (document,) = read_documents(tmp_path / name, Layout(encoding=encoding))
    assert document.text.removeprefix("text\n").strip() == "Köln"


def test_reading_may_end_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "docs.txt"
    path.write_text("one\ntwo\n", encoding="utf-16")
    ignored: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", ignored.append)
    lines = TextFile(path).lines()
    assert next(lines) == (1, "one\n")
    lines.close()
    assert not ignored
