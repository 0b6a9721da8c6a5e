import Larder

/// The names of well-known cities in other languages than English, in which the files have them, and their
/// abbreviations.
enum OtherNames {
  /// A city as the files name it.
  struct Target {
    let name: String
    let country: String
  }

  /// The city that a text names, in whatever case; nil if it is none of these names.
  static func target(of text: String) -> Target? { targets[folded(text)] }

  private static func folded(_ text: String) -> String {
    text.lowercased().split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }

  /// The cities by their other names, in small letters.
  static let targets = Dictionary(
    list.split(separator: "\n").flatMap { line in
      let parts = line.split(separator: ":", maxSplits: 1)
      let target = Target(name: String(parts[0].dropFirst(3)), country: String(parts[0].prefix(2)))
      return parts[1].split(separator: ",").map { (folded(String($0)), target) }
    }, uniquingKeysWith: { first, _ in first })

  /// A line for each city: its country, its name in the files, and other names.
  private static let list = """
    AE Dubai: دبي
    AT Vienna: Wien, Bécs, Vídeň, Viena, Vienne, Вена, 维也纳, ウィーン
    BE Antwerp: Antwerpen, Anvers, Amberes
    BE Brussels: Bruxelles, Brussel, Brüssel, Bruselas, Брюссель, 布鲁塞尔
    BG Sofia: София, Sofija
    CH Geneva: Genf, Genève, Ginevra, Ginebra, 日内瓦
    CH Zürich: Zurigo, Züri, 苏黎世
    CN Beijing: Peking, Pékin, Pechino, Пекин, ペキン
    CN Shanghai: Schanghai, Шанхай, 上海
    CZ Prague: Praha, Prag, Praga, Прага, 布拉格
    DE Berlin: Берлин, Berlín, Berlino, 柏林, ベルリン
    DE Köln: Cologne, Koeln, Colonia, Keulen, Кёльн, 科隆
    DE Hamburg: Hambourg, Hamburgo, Amburgo, Гамбург, 汉堡
    DE Munich: München, Munchen, Muenchen, Monaco di Baviera, Мюнхен, 慕尼黑, ミュンヘン
    DE Nuremberg: Nürnberg, Norimberga, Нюрнберг
    DK Copenhagen: København, Kopenhagen, Köpenhamn, Copenhague, Kööpenhamina, Копенгаген, 哥本哈根
    EG Cairo: القاهرة, Kairo, Le Caire, El Cairo, Каир, 开罗
    ES Madrid: Мадрид, 马德里
    FI Helsinki: Helsingfors, Хельсинки
    FR Paris: Parigi, París, Pariisi, Париж, 巴黎, パリ
    GB London: Londres, Londra, Londyn, Lontoo, Лондон, 伦敦, ロンドン
    GE Tbilisi: თბილისი, Tiflis, Тбилиси
    GR Athens: Αθήνα, Athen, Athènes, Atene, Atenas, Афины, 雅典
    HU Budapest: Будапешт, Budapeszt
    IL Jerusalem: ירושלים, القدس, Иерусалим
    IN Delhi: दिल्ली, Дели
    IN Kolkata: Calcutta, Kalkutta, कोलकाता
    IN Mumbai: Bombay, मुंबई, Бомбей
    IQ Baghdad: بغداد, Bagdad, Багдад
    IR Tehran: تهران, Teheran, Téhéran, Тегеран, 德黑兰
    IT Florence: Firenze, Florenz, Florencia, Флоренция
    IT Milan: Milano, Mailand, Milán, Милан, 米兰
    IT Naples: Napoli, Neapel, Nápoles, Неаполь
    IT Rome: Roma, Rom, Rzym, Рим, 罗马, ローマ
    IT Turin: Torino, Turín, Турин
    IT Venice: Venezia, Venedig, Venise, Venecia, Венеция, 威尼斯
    JP Kyoto: 京都, Kioto, Киото
    JP Osaka: 大阪, Осака
    JP Tokyo: 東京, 东京, Tokio, Tóquio, Токио, 도쿄
    KR Seoul: 서울, Séoul, Seúl, Сеул, 首尔, ソウル
    MX Mexico City: Ciudad de México, CDMX, Mexiko-Stadt, Мехико, 墨西哥城
    NL Amsterdam: Амстердам, 阿姆斯特丹
    NL The Hague: Den Haag, 's-Gravenhage, La Haye, La Haya
    NO Oslo: Осло, Kristiania, 奥斯陆
    PL Warsaw: Warszawa, Warschau, Varsovie, Varsovia, Варшава, 华沙
    PT Lisbon: Lisboa, Lissabon, Lisbonne, Lisbona, Лиссабон, 里斯本
    RO Bucharest: București, Bukarest, Bucarest, Бухарест
    RS Belgrade: Beograd, Београд, Belgrad, Belgrado, Белград
    RU Moscow: Москва, Moskau, Moskva, Moscou, Mosca, Moscú, Moskwa, 莫斯科, モスクワ
    RU Saint Petersburg: Санкт-Петербург, Sankt Petersburg, Petersburg, Leningrad, 圣彼得堡
    SE Gothenburg: Göteborg, Гётеборг
    SE Stockholm: Стокгольм, Tukholma, Estocolmo, Stoccolma, 斯德哥尔摩
    SG Singapore: 新加坡, Singapur, Singapour, Сингапур
    TH Bangkok: กรุงเทพมหานคร, Krung Thep, Бангкок, 曼谷
    TR Istanbul: İstanbul, Constantinople, Konstantinopel, Стамбул, 伊斯坦布尔
    UA Kyiv: Київ, Kiev, Kiew, Киев, 基辅
    US Los Angeles: LA, Лос-Анджелес, 洛杉矶
    US New York City: NYC, New York, Nueva York, Nova Iorque, Нью-Йорк, 纽约, ニューヨーク
    US San Francisco: SF, Сан-Франциско, 旧金山
    VN Ho Chi Minh City: Saigon, Sài Gòn, Thành phố Hồ Chí Minh
    """
}
