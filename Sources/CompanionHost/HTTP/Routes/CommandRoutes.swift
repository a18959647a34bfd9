import CompanionWire
import Hummingbird

/// The signed commands of devices.
struct CommandRoutes: RouteGroup {
    let access: RequestAccess
    let commands: SignedCommandService

    func addRoutes(to router: Router<HostRequestContext>) {
        router.add("/companion/command", method: .post) { request, context in
            // v1 has the path, and hosts of it that do nothing with it.
            guard context.isSecure, context.version >= 2 else {
                throw HostResponseError(.notImplemented, "This host does not accept signed commands")
            }
            var context = context
            try await readCommand(of: request, in: &context)
            guard let body = context.json else {
                throw SignedCommandError(.commandBadShape, message: "The body has to be application/json")
            }
            let answer = try await commands.execute(Array(body.readableBytesView)) { [context] payload, device in
                try await access.requireRung(of: device, by: request, in: context)
                guard payload.isForOwnerAlone else { return }
                try await access.refuseAgents(command: payload.type, of: device, in: context)
            }
            access.connections.trust(context.channel, isTrusted: true)
            return .json(answer)
        }
    }

    /// Reads a command, which proves by its own signature who sends it. A larger one has to come with a session, so
    /// that nothing large is kept for strangers.
    ///
    /// - Throws: As ``DeviceGate/authenticate(_:)`` for a large one.
    private func readCommand(of request: Request, in context: inout HostRequestContext) async throws {
        if let length = request.bodyLength, length <= BodyLimit.anybody {
            return try await context.readBody(of: request, upTo: BodyLimit.anybody)
        }
        guard request.hasBody else { return }
        let device = try await access.authenticate(request, in: context)
        // Pictures go with prompts alone.
        let limit = device.permissions.contains(.chatSend) ? BodyLimit.command : BodyLimit.device
        try await context.readBody(of: request, upTo: limit)
        // It may have taken longer than the session, or the device's access, has lasted.
        _ = try await access.authenticate(request, in: context)
    }
}

extension CommandPayload {
    /// Whether only the owner may ask for it: it decides what the agent may do, or takes something away. The host
    /// refuses it to its own agents.
    fileprivate var isForOwnerAlone: Bool {
        switch self {
        case .approvalDecide, .sessionRemove, .agentConfigure: true
        case .projectCreate, .sessionCreate, .chatCreate, .chatSend, .chatCancel, .agentOpen: false
        }
    }
}
