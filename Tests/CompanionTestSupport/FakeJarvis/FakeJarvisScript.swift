/// A request for approval that a ``FakeJarvis`` has.
package struct FakeJarvisApproval: Sendable {
    package var id: String
    package var action: String
    package var reason: String
    package var requestedBy: String
    /// As on the wire.
    package var requestedAt: String
    /// As on the wire: `pending` until the request is decided.
    package var status = "pending"
    /// As on the wire; nil until the request is decided.
    package var resolvedAt: String?
    package var details: [String: String] = [:]

    package init(
        id: String,
        action: String,
        reason: String,
        requestedBy: String,
        requestedAt: String,
        details: [String: String] = [:]
    ) {
        self.id = id
        self.action = action
        self.reason = reason
        self.requestedBy = requestedBy
        self.requestedAt = requestedAt
        self.details = details
    }
}

/// The content and behaviour of a ``FakeJarvis``.
package struct FakeJarvisScript: Sendable {
    package var health = "healthy"
    package var version = "1.4.0"
    package var approvals: [FakeJarvisApproval] = FakeJarvisScript.defaultApprovals
    /// Whether each entry of the list of waiting requests is there twice.
    package var listsTwice = false
    /// Entries that come first in the list of waiting requests, as JSON.
    package var strangeEntries: [String] = []
    /// The bearer token without which nothing but the health is told; nil: anybody may ask.
    package var token: String?
    /// The faults; the first one that matches a request counts. Paths are behind `/api/v1`.
    package var faults: [FakeJarvisFault] = []

    package init() {}

    /// The id of the request to deploy in ``defaultApprovals``.
    package static let deploy = "7B0E4A52-93C1-4F0B-8D6E-21A5C3F79D10"
    /// The id of the request to send a report in ``defaultApprovals``.
    package static let mail = "7B0E9F11-0C2D-4E5A-B7A8-5D1F60C2E384"
    /// The id of the request to delete files in ``defaultApprovals``.
    package static let cleanup = "C4D86E03-5F7A-49B2-A1E0-98B3D27F6C55"

    /// Three requests, not in the order of their times, which are written in three ways: 09:30:00, 09:31:30 and
    /// 09:32:00.
    package static let defaultApprovals = [
        FakeJarvisApproval(
            id: cleanup,
            action: "Delete 214 files in ~/Downloads",
            reason: "They are older than a year",
            requestedBy: "housekeeper",
            requestedAt: "2026-11-21T10:32:00+01:00",
            details: ["path": "/Users/ada/Downloads", "files": "214"]
        ),
        FakeJarvisApproval(
            id: deploy,
            action: "Deploy web to production",
            reason: "All tests are green",
            requestedBy: "deployer",
            requestedAt: "2026-11-21T09:30:00Z",
            details: ["branch": "main", "commit": "4f2c81d"]
        ),
        FakeJarvisApproval(
            id: mail,
            action: "Send the weekly report to 12 people",
            reason: "It is Friday",
            requestedBy: "secretary",
            requestedAt: "2026-11-21T09:31:30.250000Z"
        ),
    ]
}

/// A request that a ``FakeJarvis`` answers in another way than the protocol says.
package struct FakeJarvisFault: Sendable {
    package indirect enum Kind: Sendable {
        case redirect(to: String)
        /// A body of this many bytes, with or without saying so first.
        case oversized(bytes: Int, declared: Bool)
        /// Bytes that are no HTTP.
        case garbage([UInt8])
        /// An HTML page.
        case page(status: Int)
        case json(status: Int, String)
        /// Never answers until ``FakeJarvis/release(_:)``, then as it should.
        case silence(gate: String)
        /// Breaks the connection (TCP reset) before an answer.
        case reset
        /// Does what it is asked, and closes the connection instead of an answer.
        case losesAnswer
        /// Does what it is asked, and answers with another fault.
        case obeys(then: Kind)
        /// Says that the body is longer than it is, and closes.
        case cutBody
        /// As it should be, one byte at a time.
        case drip
        /// Somebody else decides the request first; then another fault, or as it should be.
        case decidesFirst(id: String, status: String, then: Kind? = nil)
        /// Somebody else has the request removed first; then as it should be.
        case removesFirst(id: String)
    }

    /// The beginning of the path behind `/api/v1`.
    package var path: String
    package var kind: Kind
    /// How many requests it hits. Nil: all.
    package var times: Int?

    package init(_ kind: Kind, on path: String = "/", times: Int? = nil) {
        self.kind = kind
        self.path = path
        self.times = times
    }

    func hits(_ request: FakeMac.Request) -> Bool {
        request.path.hasPrefix("/api/v1" + path) && (times ?? 1) > 0
    }
}
