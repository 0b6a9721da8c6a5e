extension Gazetteer {
  static let countryHeader =
    "iso,iso3,name,capital,continent_code,area_km2,population,currency_code,languages,neighbours"
  static let cityHeader =
    "geoname_id,name,latitude,longitude,country_code,population,timezone,admin1_code"
  static let divisionHeader = "code,name,longitude,latitude"

  /// Writes three CSV files with a few countries, cities and divisions.
  func writeWorld() throws {
    try write(
      "countries.csv",
      """
      \(Self.countryHeader)
      CH,CHE,Switzerland,Bern,EU,41290,8516543,CHF,"de-CH,fr-CH,it-CH,rm","DE,IT,LI,FR,AT"
      CN,CHN,China,Beijing,AS,9596960,1411778724,CNY,"zh-CN,yue","LA,BT"
      FJ,FJI,Fiji,Suva,OC,18270,883483,FJD,"en-FJ,fj",
      NO,NOR,Norway,Oslo,EU,324220,5314336,NOK,no,"FI,RU,SE"
      US,USA,United States,Washington,NA,9629091,327167434,USD,en-US,"CA,MX,CU"

      """.dosLines)
    try write(
      "cities.csv",
      #"""
      \#(Self.cityHeader)
      1816670,Beijing,39.9075,116.39723,CN,18960744,Asia/Shanghai,22
      1796236,Shanghai,31.22222,121.45806,CN,24874500,Asia/Shanghai,23
      2657896,Zürich,47.36667,8.55,CH,415367,Europe/Zurich,ZH
      2660306,Zürich (Kreis 10) / Höngg,47.4023,8.4971,CH,17117,Europe/Zurich,ZH
      2198148,Suva,-18.14161,178.44149,FJ,77366,Pacific/Fiji,01
      2204582,Labasa,-16.4332,179.36451,FJ,27949,Pacific/Fiji,
      3143244,Oslo,59.91273,10.74609,NO,580000,Europe/Oslo,12
      4245926,O'Fallon,38.59227,-89.91121,US,29002,America/Chicago,IL
      4401242,O'Fallon,38.81061,-90.69985,US,85040,America/Chicago,MO
      6822137,"San Jose, ""The Capital""",37.33939,-121.89496,US,997368,America/Los_Angeles,CA

      """#.dosLines)
    try write(
      "divisions.csv",
      """
      \(Self.divisionHeader)
      110000,北京市,116.407394,39.904211
      110100,市辖区,116.407394,39.904211
      110101,东城区,116.41649,39.928341
      110102,西城区,116.365873,39.912235
      130000,河北省,114.530235,38.037433
      130100,石家庄市,114.514793,38.042228
      130102,长安区,,
      130200,唐山市,118.180149,39.63068

      """.dosLines)
  }
}

extension String {
  /// The text with CRLF line ends, as in the sample's files.
  var dosLines: String {
    split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\r\n")
  }
}
