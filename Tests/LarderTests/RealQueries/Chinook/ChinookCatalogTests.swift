import Foundation
import Larder
import Testing

@Suite("Chinook: the catalog")
struct ChinookCatalogTests {
  private typealias Artist = Chinook.Artist
  private typealias Album = Chinook.Album
  private typealias Genre = Chinook.Genre
  private typealias InvoiceLine = Chinook.InvoiceLine
  private typealias MediaType = Chinook.MediaType
  private typealias Playlist = Chinook.Playlist
  private typealias PlaylistTrack = Chinook.PlaylistTrack
  private typealias Track = Chinook.Track

  private let chinook: ShellComparison

  init() throws { chinook = try Chinook.database() }

  @Test("Chinook: four queries for tracks that were never sold give the shell's rows")
  func neverSold() throws {
    let sql = """
      SELECT TrackId, Name FROM Track
      WHERE TrackId NOT IN (SELECT TrackId FROM InvoiceLine) ORDER BY TrackId
      """
    try chinook.expect(
      Track.filter { track in !InvoiceLine.filter { $0.track == track.id }.exists }
        .order { $0.id }.select { ($0.id, $0.name) }, sql)
    try chinook.expect(
      Track.filter { !$0.id.in(InvoiceLine.select { $0.track }) }
        .order { $0.id }.select { ($0.id, $0.name) }, sql)
    try chinook.expect(
      Track.leftJoin(InvoiceLine.self) { $0.id == $1.track }.filter { $1.id == nil }
        .order { $0.0.id }.select { track, _ in (track.id, track.name) }, sql)
    let sold = InvoiceLine.join(Track.self) { $0.track == $1.id }.select { ($1.id, $1.name) }
    let unsold = Track.select { ($0.id, $0.name) }.except(sold).order(byColumn: 1)
    try chinook.expect(unsold.fetchAll(chinook.db), sql)
  }

  @Test("Chinook: the longest track of each album, by a correlated maximum, as in the shell")
  func longest() throws {
    let query = Track.join(Album.self) { $0.album == $1.id }
      .filter { track, album in
        track.milliseconds
          == first(of: Track.filter { $0.album == album.id }.select { $0.milliseconds.max() })
      }
      .order { $1.title }.order { track, _ in track.id }
      .select { ($1.title, $0.name, $0.milliseconds.real / 60_000) }
    try chinook.expect(
      query,
      """
      SELECT al.Title, t.Name, t.Milliseconds / 60000.0 FROM Track t JOIN Album al USING (AlbumId)
      WHERE t.Milliseconds = (SELECT max(x.Milliseconds) FROM Track x WHERE x.AlbumId = al.AlbumId)
      ORDER BY al.Title, t.TrackId
      """)
  }

  @Test("Chinook: tracks longer than their genre's mean, by two queries, as in the shell")
  func aboveMean() throws {
    let sql = """
      SELECT t.TrackId FROM Track t JOIN (SELECT GenreId, avg(Milliseconds) AS Mean FROM Track
      GROUP BY GenreId) g ON g.GenreId = t.GenreId WHERE t.Milliseconds > 1.5 * g.Mean ORDER BY 1
      """
    let means = CommonTable(
      "means", Track.all.group { $0.genre }.select { ($0.genre, $0.milliseconds.average()) })
    try chinook.expect(
      Track.all.join(common: means) { $0.genre == $1.columns.0 && $0.genre != nil }
        .filter { $0.milliseconds.real > $1.columns.1 * 1.5 }
        .order { track, _ in track.id }.select { track, _ in track.id }, sql)
    let query = Track.filter { track in
      let mean = first(
        of: Track.filter { $0.genre == track.genre }.select { $0.milliseconds.average() })
      return track.genre != nil && track.milliseconds.real > mean * 1.5
    }
    try chinook.expect(query.order { $0.id }.select { $0.id }, sql)
  }

  @Test("Chinook: playlists with the number and hours of their tracks, as in the shell")
  func playlists() throws {
    let query = Playlist.leftJoin(PlaylistTrack.self) { $0.id == $1.playlist }
      .leftJoin(Track.self) { $1.track == $2.id }
      .group { $0.0.id }
      .order { playlist, _, _ in playlist.name.asc.nullsLast }
      .select { playlist, _, track in
        (
          playlist.name, track.id.count(),
          (track.milliseconds.sum().coalesce(0).real / 3_600_000).rounded(2)
        )
      }
    try chinook.expect(
      query,
      """
      SELECT p.Name, count(t.TrackId), round(coalesce(sum(t.Milliseconds), 0) / 3600000.0, 2)
      FROM Playlist p LEFT JOIN PlaylistTrack pt ON pt.PlaylistId = p.PlaylistId
      LEFT JOIN Track t ON t.TrackId = pt.TrackId GROUP BY p.PlaylistId ORDER BY p.Name NULLS LAST
      """)
  }

  @Test("Chinook: genres with more than forty tracks, as in the shell")
  func genres() throws {
    let query = Genre.join(Track.self) { $0.id == $1.genre }
      .group { $0.0.name }.having { _ in count() > 40 }
      .select { genre, track in
        (
          genre.name, count(), track.album.count(distinct: true),
          track.composer.count(distinct: true), track.bytes.average()
        )
      }
      .order { genre, _, _, _, _ in genre }
    try chinook.expect(
      query,
      """
      SELECT g.Name, count(*), count(DISTINCT t.AlbumId), count(DISTINCT t.Composer), avg(t.Bytes)
      FROM Genre g JOIN Track t ON t.GenreId = g.GenreId GROUP BY g.Name
      HAVING count(*) > 40 ORDER BY g.Name
      """)
  }

  @Test("Chinook: three queries for artists without an album give the shell's rows")
  func artistsWithoutAlbum() throws {
    let sql = """
      SELECT Name FROM Artist WHERE ArtistId NOT IN (SELECT ArtistId FROM Album) ORDER BY Name
      """
    try chinook.expect(
      Artist.leftJoin(Album.self) { $0.id == $1.artist }.filter { $1.id == nil }
        .select { artist, _ in artist.name }.order { $0 }, sql)
    try chinook.expect(
      Album.rightJoin(Artist.self) { $0.artist == $1.id }.filter { album, _ in album.title == nil }
        .select { $1.name }.order { $0 }, sql)
    let other = Artist.all.except(
      Artist.filter { $0.id.in(Album.all.select { $0.artist }) })
    try chinook.expect(
      other.order(byColumn: 2).fetchAll(chinook.db).map { [$0.name] }, sql)
  }

  @Test("Chinook: searching for prefixes, suffixes, parts and patterns gives the shell's rows")
  func search() throws {
    let query = Track.filter {
      $0.name.hasPrefix("Ola's") || $0.name.contains("100%") && $0.composer.isNotNull
        || $0.name.like("%winter _") || $0.name.hasSuffix(" 7")
    }.order { $0.name }
    try chinook.expect(
      query.select { ($0.name, $0.composer.coalesce("anonymous").uppercased) },
      """
      SELECT Name, upper(coalesce(Composer, 'anonymous')) FROM Track
      WHERE substr(Name, 1, 5) = 'Ola''s' OR instr(Name, '100%') AND Composer IS NOT NULL
      OR Name LIKE '%winter _' OR Name LIKE '% 7' ORDER BY Name
      """)
  }

  @Test("Chinook: tracks in three playlists at once, by intersect, as in the shell")
  func inThreePlaylists() throws {
    func tracks(of name: String) -> Selection<Int> {
      PlaylistTrack.join(Playlist.self) { $0.playlist == $1.id }.filter { $1.name == name }
        .select { entry, _ in entry.track }
    }
    let all = tracks(of: "Music").intersect(tracks(of: "Movies"))
      .intersect(tracks(of: "On the road"))
    try chinook.expect(
      Track.filter { $0.id.in(all) }.order { $0.id }.select { ($0.id, $0.name) },
      """
      SELECT t.TrackId, t.Name FROM Track t JOIN PlaylistTrack pt USING (TrackId)
      JOIN Playlist p USING (PlaylistId) WHERE p.Name IN ('Music', 'Movies', 'On the road')
      GROUP BY t.TrackId HAVING count(*) = 3 ORDER BY t.TrackId
      """)
  }

  @Test("Chinook: tracks by length and kind of file, as in the shell")
  func lengths() throws {
    let query = Track.join(MediaType.self) { $0.mediaType == $1.id }
      .select { track, type in
        (
          when(track.milliseconds < 180_000, then: "short")
            .when(track.milliseconds < 400_000, then: "medium").otherwise("long"),
          type.name.contains("video"), count(), track.unitPrice.sum()
        )
      }
      .group { length, _, _, _ in length }.group { _, isVideo, _, _ in isVideo }
      .order { length, _, _, _ in length }.order { _, isVideo, _, _ in isVideo }
    try chinook.expect(
      query,
      """
      SELECT CASE WHEN t.Milliseconds < 180000 THEN 'short' WHEN t.Milliseconds < 400000
      THEN 'medium' ELSE 'long' END AS Length, m.Name LIKE '%video%' AS Video, count(*),
      sum(t.UnitPrice) FROM Track t JOIN MediaType m USING (MediaTypeId)
      GROUP BY Length, Video ORDER BY Length, Video
      """)
  }

  @Test("Chinook: every pair of genre and kind of file with its tracks, as in the shell")
  func everyPair() throws {
    let query = Genre.join(MediaType.self) { _, _ in true }
      .leftJoin(Track.self) { $0.id == $2.genre && $1.id == $2.mediaType }
      .group { ($0.0.id, $0.1.id) }
      .order { ($0.0.name, $0.1.name.desc) }
      .select { genre, type, track in (genre.name, type.name, track.id.count()) }
    try chinook.expect(
      query,
      """
      SELECT g.Name, m.Name, count(t.TrackId) FROM Genre g CROSS JOIN MediaType m
      LEFT JOIN Track t ON t.GenreId = g.GenreId AND t.MediaTypeId = m.MediaTypeId
      GROUP BY g.GenreId, m.MediaTypeId ORDER BY g.Name, m.Name DESC
      """)
  }

  @Test("Chinook: the median length of each genre's tracks, as in the shell")
  func medians() throws {
    let numbered = CommonTable(
      "numbered",
      Track.filter { $0.genre != nil }.select {
        (
          $0.genre, $0.milliseconds,
          rowNumber().over(partitionBy: $0.genre, orderBy: $0.milliseconds.asc),
          count().over(partitionBy: $0.genre)
        )
      })
    let query = numbered.all.filter {
      let (_, _, number, count) = $0.columns
      return number.in([(count + 1) / 2, (count + 2) / 2])
    }
    .group { $0.columns.0 }.order { $0.columns.0 }
    .select { ($0.columns.0, $0.columns.1.average()) }
    try chinook.expect(
      query,
      """
      WITH numbered AS (SELECT GenreId, Milliseconds, row_number() OVER w AS n,
        count(*) OVER (PARTITION BY GenreId) AS c FROM Track WHERE GenreId IS NOT NULL
        WINDOW w AS (PARTITION BY GenreId ORDER BY Milliseconds))
      SELECT GenreId, avg(Milliseconds) FROM numbered WHERE n IN ((c + 1) / 2, (c + 2) / 2)
      GROUP BY GenreId ORDER BY GenreId
      """)
  }
}
