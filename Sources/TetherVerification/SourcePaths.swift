internal import Foundation
internal import Tether
internal import TetherTesting

/// The paths of files known by module and name, as in `#fileID`.
///
/// A registration keeps no path, because paths make programs larger and reveal the build machine. A
/// test has a path, so the files of the test's package are searched after a failure.
enum SourcePaths {
    private static let known = Locked<[String: String?]>([:])

    /// The path of the only file with a name in a module, in the package or project of a known
    /// file; `nil` if no file or several files match.
    static func path(of fileID: String, near file: String) -> String? {
        guard let root = root(of: URL(filePath: file)) else { return nil }
        let key = "\(root.path):\(fileID)"
        if let path = known.withLock({ $0[key] }) { return path }
        let path = find(fileID, in: root)
        known.withLock { $0[key] = .some(path) }
        return path
    }

    /// The nearest folder above a file with a package or a project.
    private static func root(of file: URL) -> URL? {
        var folder = file.deletingLastPathComponent()
        while folder.path != "/", !folder.path.isEmpty {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
            if names.contains(where: { $0 == "Package.swift" || $0.hasSuffix(".xcodeproj") }) {
                return folder
            }
            folder.deleteLastPathComponent()
        }
        return nil
    }

    private static func find(_ fileID: String, in root: URL) -> String? {
        let parts = fileID.split(separator: "/")
        guard parts.count >= 2, let module = parts.first, let name = parts.last else { return nil }
        guard
            let files = FileManager.default.enumerator(
                at: root, includingPropertiesForKeys: nil, options: [.skipsHiddenFiles])
        else { return nil }
        var found: [String] = []
        var inModule: [String] = []
        while let file = files.nextObject() as? URL {
            guard file.lastPathComponent == name else { continue }
            found.append(file.path)
            // The folder of a module usually has the module's name; in a project the names may
            // differ. The root, too, may have the module's name, and is no folder of a module.
            let belowRoot = file.pathComponents.suffix(files.level)
            if belowRoot.contains(String(module)) { inModule.append(file.path) }
        }
        let candidates = inModule.isEmpty ? found : inModule
        return candidates.count == 1 ? candidates.first : nil
    }
}
