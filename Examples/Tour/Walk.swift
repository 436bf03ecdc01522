import Foundation
import Tether

/// The files of a folder in a fixed order, without hidden files.
struct Folder {
    struct Unusable: Error, CustomStringConvertible {
        let description: String
    }

    let name: String
    private let paths: [String]

    /// The folder that the command line names, or the current one.
    init(arguments: some Collection<String>) throws(Unusable) {
        guard arguments.count <= 1 else {
            throw Unusable(
                description:
                    "Tour walks one folder, but was given \(arguments.count): swift run Tour [folder]"
            )
        }
        let path = arguments.first ?? FileManager.default.currentDirectoryPath
        var isFolder: ObjCBool = false
        guard unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw Unusable(description: "Tour cannot find the folder \"\(path)\".")
        }
        guard isFolder.boolValue else {
            throw Unusable(description: "Tour walks a folder, and \"\(path)\" is a file.")
        }
        let folder = URL(filePath: path, directoryHint: .isDirectory).resolvingSymlinksInPath()
        guard FileManager.default.isReadableFile(atPath: path),
            let files = FileManager.default.enumerator(
                at: folder, includingPropertiesForKeys: [.isRegularFileKey],
                options: .skipsHiddenFiles)
        else {
            throw Unusable(description: "Tour cannot read the folder \"\(path)\".")
        }
        name = folder.lastPathComponent
        paths = files.compactMap { $0 as? URL }
            .filter { (try? $0.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile) == true }
            .map(\.path).sorted()
    }

    /// The paths of the first and of the second half.
    var halves: (ArraySlice<String>, ArraySlice<String>) {
        let middle = (paths.count + 1) / 2
        return (paths[..<middle], paths[middle...])
    }
}

/// Posts files on a thread of its own, as their sender.
final class Walker: Sendable {
    private let name: String

    init(name: String) { self.name = name }

    func post(_ paths: ArraySlice<String>, to center: ObserverCenter) async {
        await withCheckedContinuation { continuation in
            // The thread does not retain the walk, and may end later. The waiting caller retains
            // the walk.
            let thread = Thread { [unowned self] in
                Place.nameThread(name)
                for path in paths {
                    center.post(name: .fileFound, object: self, userInfo: ["path": path])
                }
                continuation.resume()
            }
            thread.start()
        }
    }
}
