internal import Foundation
internal import Tether
internal import TetherTesting

/// The paths of files that are known as `#fileID` names them, by module and name.
///
/// A registration keeps no path, because paths make programs larger and tell of the machine that built them. A test has
/// one, so the files of its package are looked through when something has failed.
enum SourcePaths {
    private static let known = Guarded<[String: String?]>([:])

    /// The path of the one file of a module that has a name, in the package or project of a file that is known; `nil` if
    /// there is none, or more than one.
    static func path(of fileID: String, near file: String) -> String? {
        guard let root = root(of: URL(filePath: file)) else { return nil }
        let key = "\(root.path):\(fileID)"
        if let path = known.withLock({ $0[key] }) { return path }
        let path = find(fileID, in: root)
        known.withLock { $0[key] = .some(path) }
        return path
    }

    /// The nearest folder above a file that holds a package or a project.
    private static func root(of file: URL) -> URL? {
        var folder = file.deletingLastPathComponent()
        while folder.path != "/", !folder.path.isEmpty {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
            if names.contains(where: { $0 == "Package.swift" || $0.hasSuffix(".xcodeproj") }) { return folder }
            folder.deleteLastPathComponent()
        }
        return nil
    }

    private static func find(_ fileID: String, in root: URL) -> String? {
        let parts = fileID.split(separator: "/")
        guard parts.count >= 2, let module = parts.first, let name = parts.last else { return nil }
        let files = FileManager.default.enumerator(
            at: root, includingPropertiesForKeys: nil, options: [.skipsHiddenFiles])
        var found: [String] = []
        while let file = files?.nextObject() as? URL {
            // A module's folder has its name, as a rule; in a project it need not.
            if file.lastPathComponent == name { found.append(file.path) }
        }
        let inModule = found.filter { $0.split(separator: "/").contains(module) }
        let candidates = inModule.isEmpty ? found : inModule
        return candidates.count == 1 ? candidates.first : nil
    }
}
