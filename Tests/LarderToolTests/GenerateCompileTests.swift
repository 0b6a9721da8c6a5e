import Foundation
import Larder
import TestSupport
import Testing

/// Compiles and runs a program with generated records of four databases, once with the macro and once
/// without.
@Suite("larder generate: compiled records", .serialized)
struct GenerateCompileTests {
  @Test(
    "Generated records with the macro compile without warnings, are formatted and match their tables"
  )
  func compiled() throws {
    try check(form: "--macro", module: "LarderMacros")
  }

  @Test(
    "Generated records without the macro compile without warnings, are formatted and match their tables"
  )
  func compiledByHand() throws {
    try check(form: "--by-hand", module: "Larder")
  }

  private func check(form: String, module: String) throws {
    let tool = try Tool()
    var sources = ["main.swift"]
    for (name, space, schema) in GeneratedProgram.databases {
      let db = try tool.database("\(name).db")
      // A schema may have a foreign key to a missing table.
      try db.executeStatements(SQL(raw: "PRAGMA foreign_keys = OFF; \(schema)"))
      try db.close()
      let source = "\(space).swift"
      let result = try tool.run(
        "generate", "\(name).db", form, "--inside", space, "--output", source)
      try #require(result.status == 0, "\(result.errors)")
      let told = try tool.text(source).components(separatedBy: "// Differs, since").count - 1
      #expect(told == (name == "hostile" ? 6 : 0), "the differences that the program counts")
      sources.append(source)
    }
    let format = try tool.runOther(
      "swift",
      ["format", "lint", "--strict", "--configuration", BuiltModules.root + "/.swift-format"]
        + sources.dropFirst())
    #expect(format.status == 0, "\(format.errors)")
    try tool.write("main.swift", GeneratedProgram.main(module).utf8)
    let compiler = try tool.runOther("swiftc", BuiltModules.compilerArguments + sources)
    try #require(compiler.status == 0, "\(compiler.output)\(compiler.errors)")
    let program = try tool.runOther("./main", [])
    #expect(program.output == GeneratedProgram.expectedOutput, "\(program.errors)")
    #expect(program.status == 0)
  }
}

/// Compiler arguments to build a program with the modules that the tests were built with.
enum BuiltModules {
  private static let folder = URL(fileURLWithPath: ChildProcess.built("larder"))
    .deletingLastPathComponent()

  /// The package's folder.
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("../..").standardized.path

  /// Arguments to compile and link a program `main` that uses Larder and its macros, with warnings as errors.
  static var compilerArguments: [String] {
    get throws {
      let module = root + "/Sources/CSQLite/module.modulemap"
      let plugin = folder.appendingPathComponent("LarderMacrosPlugin-tool").path
      return [
        "-o", "main", "-swift-version", "6", "-warnings-as-errors", "-I",
        folder.appendingPathComponent("Modules").path, "-load-plugin-executable",
        "\(plugin)#LarderMacrosPlugin", "-Xcc", "-fmodule-map-file=\(module)", "-lsqlite3",
      ] + sanitizer + (try objects())
    }
  }

  /// Additional arguments for a program that uses LarderPostgres.
  static var serverArguments: [String] {
    get throws {
      let module = root + "/Sources/CLibPQ/module.modulemap"
      let flags = try ChildProcess("/usr/bin/env", ["pkg-config", "--cflags-only-I", "libpq"])
      let folders = (flags.line() ?? "").split(separator: " ").flatMap { ["-Xcc", String($0)] }
      return ["-Xcc", "-fmodule-map-file=\(module)"] + folders + ["-lpq"]
        + (try objects(of: ["LarderPostgres"]))
    }
  }

  /// The object files of the modules.
  private static func objects(
    of modules: [String] = ["LarderSQLite", "Larder", "LarderMacros"]
  ) throws -> [String] {
    try modules.flatMap { name in
      let folder = folder.appendingPathComponent("\(name).build")
      return try FileManager.default.contentsOfDirectory(atPath: folder.path)
        .filter { $0.hasSuffix(".o") }.sorted().map { folder.appendingPathComponent($0).path }
    }
  }

  /// The compiler argument for the sanitizer that the object files were compiled with.
  private static var sanitizer: [String] {
    let names = [("__asan_init", "address"), ("__tsan_init", "thread")]
    return names.filter { dlsym(nil, $0.0) != nil }.flatMap { ["-sanitize=\($0.1)"] }
  }
}
