#if os(Linux)

import Foundation
import Testing

/// The size of the public interface in code completion.
@Suite struct CompletionTests {
    @Test func `a center completes to at most 45 entries`() throws {
        let graph = try Compiler().symbolGraph()
        var titles: [String: String] = [:]
        var declarations: [String: String] = [:]
        for symbol in try #require(graph["symbols"] as? [[String: Any]]) {
            let identifier = try #require(
                (symbol["identifier"] as? [String: Any])?["precise"] as? String)
            titles[identifier] = (symbol["names"] as? [String: Any])?["title"] as? String
            let kind = (symbol["kind"] as? [String: Any])?["identifier"] as? String
            let availability = symbol["availability"] as? [[String: Any]] ?? []
            guard kind == "swift.method" || kind == "swift.property",
                !availability.contains(where: {
                    $0["isUnconditionallyUnavailable"] as? Bool == true
                })
            else { continue }
            let fragments = symbol["declarationFragments"] as? [[String: Any]] ?? []
            declarations[identifier] = fragments.compactMap { $0["spelling"] as? String }.joined()
        }
        // A member of the protocol's extension may stand under both types.
        let types = Set(["ObserverCenter", "NotifyingCenter"])
        let relationships = try #require(graph["relationships"] as? [[String: Any]]).filter {
            $0["kind"] as? String == "memberOf"
                && types.contains(titles[$0["target"] as? String ?? ""] ?? "")
        }
        let entries = Set(relationships.compactMap { declarations[$0["source"] as? String ?? ""] })
        #expect(entries.count > 30 && entries.count <= 45, "\(entries.count): \(entries.sorted())")
    }
}

#endif
