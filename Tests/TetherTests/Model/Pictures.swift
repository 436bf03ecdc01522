/// What a center's audit tells, and whether anything is left in it.
struct CenterPicture: Equatable {
    var rows: [Row] = []
    var posts = Posts()
    /// Of a foreign center that tells.
    var closures: Closures?

    /// What waits in posting queues, and what they dropped.
    struct Posts: Equatable {
        var asap = 0
        var whenIdle = 0
        var dropped = 0
    }

    /// What a foreign center has, and how often it was asked to take off what it had not.
    struct Closures: Equatable {
        var count = 0
        var strangers = 0
    }

    struct Row: Equatable {
        let name: String?
        let sender: String?
        let owner: String?
        let target: String
        let pending: Int
        let dropped: Int
        let muted: Int
        let isOnce: Bool
        let key: String?
    }
}

/// What a token tells.
struct TokenPicture: Equatable {
    var isActive = false
    var isMuted = false
    var target = "poster"
    var backlog = "unbounded"
}
