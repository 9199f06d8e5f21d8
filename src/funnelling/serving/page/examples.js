// Texts to try with one click.

// The first sentence of the Universal Declaration of Human Rights, for models that keep no documents.
const SENTENCES = {
  cs: "Všichni lidé rodí se svobodní a sobě rovní co do důstojnosti a práv.",
  da: "Alle mennesker er født frie og lige i værdighed og rettigheder.",
  de: "Alle Menschen sind frei und gleich an Würde und Rechten geboren.",
  en: "All human beings are born free and equal in dignity and rights.",
  es: "Todos los seres humanos nacen libres e iguales en dignidad y derechos.",
  fi: "Kaikki ihmiset syntyvät vapaina ja tasavertaisina arvoltaan ja oikeuksiltaan.",
  fr: "Tous les êtres humains naissent libres et égaux en dignité et en droits.",
  it: "Tutti gli esseri umani nascono liberi ed eguali in dignità e diritti.",
  nl: "Alle mensen worden vrij en gelijk in waardigheid en rechten geboren.",
  pl: "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw.",
  pt: "Todos os seres humanos nascem livres e iguais em dignidade e em direitos.",
  ru: "Все люди рождаются свободными и равными в своем достоинстве и правах.",
  sv: "Alla människor är födda fria och lika i värde och rättigheter.",
  tr: "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar.",
};
const MOST = 6;

export function examples(model) {
  if (model.examples.length) return model.examples;
  const known = Object.keys(model.languages).filter(language => Object.hasOwn(SENTENCES, language));
  return known.slice(0, MOST).map(language => ({ language, text: SENTENCES[language] }));
}
