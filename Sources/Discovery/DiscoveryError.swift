/// An error of browsing, resolving or publishing.
package struct DiscoveryError: Error, Sendable {
    /// The kinds of failure. New ones may be added, so a `switch` needs a `default`.
    package struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String, Sendable {
            case engineUnavailable = "engine_unavailable"
            case engineLost = "engine_lost"
            case engineReplaced = "engine_replaced"
            case invalidType = "invalid_type"
            case invalidInterface = "invalid_interface"
            case invalidAdvertisement = "invalid_advertisement"
            case nameCollision = "name_collision"
            case publishFailed = "publish_failed"
            case browseFailed = "browse_failed"
            case resolveFailed = "resolve_failed"
            case domainUnsupported = "domain_unsupported"
        }

        private let value: Value

        /// No engine of the wished kind can be started on this machine now.
        package static let engineUnavailable = Code(value: .engineUnavailable)
        /// An engine that worked has gone, for example because the Avahi daemon was stopped.
        package static let engineLost = Code(value: .engineLost)
        /// An engine was given up for a better one that is there again.
        package static let engineReplaced = Code(value: .engineReplaced)
        /// Text that is not a DNS-SD service type.
        package static let invalidType = Code(value: .invalidType)
        /// The machine has no network interface of that name.
        package static let invalidInterface = Code(value: .invalidInterface)
        /// An advertisement that DNS-SD cannot carry: an empty name, a TXT item that is too long, port 0.
        package static let invalidAdvertisement = Code(value: .invalidAdvertisement)
        /// The name, and every alternative that was tried, is taken on the network.
        package static let nameCollision = Code(value: .nameCollision)
        /// The engine refused to publish.
        package static let publishFailed = Code(value: .publishFailed)
        /// The engine refused to browse.
        package static let browseFailed = Code(value: .browseFailed)
        /// The engine refused to resolve.
        package static let resolveFailed = Code(value: .resolveFailed)
        /// The engine does not browse that domain.
        package static let domainUnsupported = Code(value: .domainUnsupported)

        package var description: String { value.rawValue }
    }

    /// The kind of error, by which callers decide what to do.
    package var code: Code
    /// The error as a sentence for people, without a full stop.
    package var message: String
    /// The engine's own error; nil if there is none.
    package var underlying: (any Error)?
    /// The engine that failed, where the user has asked for that one alone.
    package var engine: DiscoveryEngineKind?
    /// The file and line of pairtool's source where the error was made: `Module/File.swift:12`.
    package var location: String

    package init(
        _ code: Code,
        message: String,
        underlying: (any Error)? = nil,
        fileID: String = #fileID,
        line: Int = #line
    ) {
        self.code = code
        self.message = message
        self.underlying = underlying
        self.location = "\(fileID):\(line)"
    }
}

extension DiscoveryError: CustomStringConvertible {
    /// The message and what the engine said; not the source location.
    package var description: String {
        underlying.map { "\(message): \($0)" } ?? message
    }
}

extension DiscoveryError: Hashable {
    /// Errors are equal when a reader could not tell them apart.
    package static func == (left: DiscoveryError, right: DiscoveryError) -> Bool {
        left.code == right.code && left.description == right.description
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(description)
    }
}
