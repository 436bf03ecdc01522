// Reads the compiler's index of Sources/Tether, and prints a line for each place where a folder uses one that stands below
// it in the table of layers. See .ci/layers.
//
//     layers INDEX FOLDER <table
//
// INDEX    the index store that the compiler wrote
// FOLDER   Sources/Tether
//
// The table has one layer in each line, the lowest first: its folders, with spaces between them.

import Foundation

/// A place in a source file where a symbol is defined or used.
struct Occurrence {
    let file: String
    let line: UInt32
    let name: String
    let usr: String
}

/// All that the index knows of the files in one folder.
final class Index {
    private(set) var definitions: [String: String] = [:]
    private(set) var uses: [Occurrence] = []
    private var records: [(name: String, file: String)] = []
    private var names: [String] = []
    private var file = ""
    private let folder: String

    init(store path: String, of folder: String) {
        self.folder = folder
        guard let store = indexstore_store_create(path, nil) else { stop("There is no index in \(path).") }
        let this = Unmanaged.passUnretained(self).toOpaque()
        _ = indexstore_store_units_apply_f(store, 1, this) { this, name in
            Index.of(this).names.append(String(name))
            return true
        }
        for name in names {
            let unit = indexstore_unit_reader_create(store, name, nil)
            _ = indexstore_unit_reader_dependencies_apply_f(unit, this) { this, dependency in
                Index.of(this).add(dependency: dependency)
                return true
            }
            indexstore_unit_reader_dispose(unit)
        }
        for record in records {
            file = record.file
            let reader = indexstore_record_reader_create(store, record.name, nil)
            _ = indexstore_record_reader_occurrences_apply_f(reader, this) { this, occurrence in
                Index.of(this).add(occurrence: occurrence)
                return true
            }
            indexstore_record_reader_dispose(reader)
        }
    }

    private static func of(_ this: UnsafeMutableRawPointer?) -> Index {
        Unmanaged<Index>.fromOpaque(this!).takeUnretainedValue()
    }

    private func add(dependency: UnsafeMutableRawPointer?) {
        let path = String(indexstore_unit_dependency_get_filepath(dependency))
        guard indexstore_unit_dependency_get_kind(dependency) == 2, path.hasPrefix(folder) else { return }
        records.append((String(indexstore_unit_dependency_get_name(dependency)), String(path.dropFirst(folder.count))))
    }

    private func add(occurrence: UnsafeMutableRawPointer?) {
        let symbol = indexstore_occurrence_get_symbol(occurrence)
        let usr = String(indexstore_symbol_get_usr(symbol))
        let roles = indexstore_occurrence_get_roles(occurrence)
        if roles & 2 != 0 { definitions[usr] = file }
        guard roles & 4 != 0 else { return }
        var (line, column): (UInt32, UInt32) = (0, 0)
        indexstore_occurrence_get_line_col(occurrence, &line, &column)
        uses.append(Occurrence(file: file, line: line, name: String(indexstore_symbol_get_name(symbol)), usr: usr))
    }
}

extension String {
    init(_ text: indexstore_string_ref_t) {
        let bytes = UnsafeRawBufferPointer(start: text.data, count: text.length)
        self = String(decoding: bytes, as: UTF8.self)
    }

    /// The folder of a path.
    var folder: String { split(separator: "/").dropLast().joined(separator: "/") }
}

func stop(_ sentence: String) -> Never {
    FileHandle.standardError.write(Data("\(sentence)\n".utf8))
    exit(2)
}

var layers: [String: Int] = [:]
var count = 0
while let line = readLine() {
    for folder in line.split(separator: " ") { layers[String(folder)] = count }
    count += 1
}
let folder = CommandLine.arguments[2] + "/"
let index = Index(store: CommandLine.arguments[1], of: folder)
func layer(of file: String) -> Int {
    guard let layer = layers[file.folder] else { stop("The folder of \(file) is not in the table of layers.") }
    return layer
}

var arrows: Set<String> = []
var printed: Set<String> = []
for use in index.uses {
    guard let definition = index.definitions[use.usr], use.file.folder != definition.folder else { continue }
    arrows.insert("\(use.file.folder) \(definition.folder)")
    guard layer(of: use.file) < layer(of: definition) else { continue }
    printed.insert("\(use.file):\(use.line): uses \(use.name) of \(definition)")
}
for line in printed.sorted() { print(line) }
FileHandle.standardError.write(Data("\(arrows.count) arrows between folders, \(index.uses.count) uses\n".utf8))
exit(printed.isEmpty && !index.uses.isEmpty ? 0 : 1)
