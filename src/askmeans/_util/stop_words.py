"""Stop words by language: function words, which are independent of the topic of a text."""

STOP_WORDS = {
    language: frozenset(words.split())
    for language, words in {
        "en": (
            "about above after again against all almost alone along already also although always "
            "among and another any anybody anyone anything are around ask asked asks because been "
            "before being below between both but can cannot come comes could did does doing don "
            "done during each either else even ever every everybody everyone everything few for "
            "from further get gets give given go goes going gone got had has have having hello "
            "her here hers herself him himself his how however into its itself just least let "
            "made make makes many may maybe might more most much must myself need needs neither "
            "never next nobody none nor not nothing now off often once one only onto other others "
            "our ours ourselves out over per perhaps please rather said same say says see seem "
            "seems several shall she should since some somebody someone something sometimes soon "
            "still such take takes than that the their theirs them themselves then there these "
            "they thing things this those though through thus till together too toward two under "
            "until upon use used uses very was way well went were what whatever when where "
            "whether which while who whole whom whose why will with within without would yes yet "
            "you your yours yourself"
        ),
        "de": (
            "aber alle allem allen aller alles als also andere anderen auch auf aus bei beim bin "
            "bis bist bitte dann darf das dass dein deine dem den denn der deren des dich die "
            "dies diese diesem diesen dieser dieses dir doch dort durch ein eine einem einen "
            "einer eines einmal etwas euch euer für gegen habe haben hallo hat hatte hier hin "
            "hätte ich ihm ihn ihnen ihr ihre ihrem ihren ihrer immer ins ist jede jedem jeden "
            "jeder jedes jetzt kann kannst kein keine keinem keinen keiner können könnte machen "
            "man mehr mein meine meinem meinen meiner mich mir mit muss müssen nach nicht nichts "
            "noch nun nur oder ohne schon sehr sein seine seinem seinen seiner seit sich sie sind "
            "soll sollte sondern und uns unser unsere unter vom von vor war waren warum was weil "
            "wenn wer werde werden wie wieder will wir wird wirklich wollen worden wurde würde "
            "zum zur zwar zwischen über"
        ),
        "fr": (
            "alors après aucun aussi autre autres avant avec avez avoir avons bien car ceci cela "
            "celle celui ces cet cette chez comme comment dans des deux dire donc dont elle elles "
            "encore entre est eux faire fait font ici ils je leur leurs lui mais mes moi moins "
            "mon mot même nos notre nous ont par parce pas peu peut plus pour pourquoi quand que "
            "quel quelle quelles quels qui quoi sans ses seulement si sien son sont sous suis sur "
            "ta tandis tes toi ton tous tout toute toutes trop très tu une vers veux voici voilà "
            "vos votre vous était être"
        ),
        "es": (
            "algo algún ante antes aquel aunque bajo cada como con contra cual cuando cuándo cómo "
            "del desde donde durante dónde ella ellas ellos entre era eran esa ese eso esta estar "
            "estas este esto estos estoy está están fue fueron fui hacer hacia han hasta hay hola "
            "las les los menos mientras mis muy más nada nos nosotros otra otras otro otros para "
            "pero poco por porque puede puedo que quien quiero quién qué sea según ser será sido "
            "siempre sin sobre son soy sus también tan tanto tengo tiene toda todas todo todos "
            "una unas uno unos usted ustedes"
        ),
        "it": (
            "alla allo anche ancora avere come con cosa così cui dal dalla degli dei del della "
            "delle dello dopo dove essere fare fino gli hanno loro nei nel nella nelle noi nostro "
            "ogni per perché più poi può quale quando quanto quella quelle quelli quello questa "
            "queste questi questo sarà sempre senza sia solo sono sopra sotto stata stato sua sue "
            "sul sulla suo suoi tra tutti tutto una uno vi voi"
        ),
        "pt": (
            "agora ainda algum aquela aquele assim até bem cada com como depois desde dessa desse "
            "deste dos ela elas ele eles entre era essa esse esta estou estão eu foi foram fosse "
            "isso isto já lhe mais mas me mesmo meu meus minha minhas muita muito nem nos nossa "
            "nosso num numa não onde outra outro para pela pelo por porque quando quem quero se "
            "sem ser seu seus sobre sou sua suas também tem tenho tinha toda todo todos uma umas "
            "você vocês"
        ),
        "nl": (
            "aan alleen als altijd bij daar dan dat deze die dit doen door een eens geen haar heb "
            "hebben heeft het hier hij hoe hun iemand iets ik in is ja jij jou jullie kan kon "
            "maar meer men met mij mijn moet naar niet niets nog of om omdat ons onze ook op over "
            "te tegen toch toen tot uit van veel voor waar waarom wanneer want waren was wat wel "
            "werd wie wij worden zal ze zelf zich zij zijn zo zonder zou"
        ),
        "sv": (
            "alla allt att bara blev bli blir den denna deras dess dessa det detta dig din dina "
            "ditt där då efter eller ett finns från för ha hade han hans har hej henne hennes hon "
            "hur här icke ingen inte jag kan kunde man med mellan men mig min mina mitt mot "
            "mycket måste när någon något några och också oss sedan sig sin sina sitt ska skulle "
            "som till under upp utan var vara varför varit vem vid vilka vill än är även över"
        ),
        "pl": (
            "albo ale bez bo być był była było były będzie co czy dla do gdy gdzie ich ile jak "
            "jaki jako jego jej jest jestem jeszcze już kiedy kto która które który mam mi mnie "
            "moja moje może można mój nad nas nasz nie niż oraz pod poza przed przez przy się "
            "sobie są tak taki tam tego tej ten też to tu tych tylko tym wszystko wy za że"
        ),
    }.items()
}
