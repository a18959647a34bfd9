import CompanionWire
import Hummingbird

extension CompanionCommandRouter {
    /// Refuses a request for something that only the owner may do, if it comes from an agent of this host, or from a
    /// process of this machine that may be one. To be asked for each request: a connection can be passed on.
    ///
    /// - Parameter command: For the audit.
    /// - Throws: ``HostError`` with `request.forbidden`.
    func refuseAgents(_ command: String, in context: HostRequestContext) async throws {
        let origin = await localPeers.origin(of: context.peer, over: context.channel)
        switch origin {
        case .elsewhere, .owner: return
        case .agent(let process):
            await refusals.record(command, process: process, address: context.peer?.description)
            throw HostError(.requestForbidden, HostErrorText.agentRefused)
        case .unknown:
            await refusals.record(command, process: nil, address: context.peer?.description)
            throw HostError(.requestForbidden, HostErrorText.processUnknown)
        }
    }
}

extension CommandPayload {
    /// Whether only the owner may ask for it: it decides what the agent may do, or takes something away. The host
    /// refuses it to its own agents.
    var isForOwnerAlone: Bool {
        switch self {
        case .approvalDecide, .sessionRemove: true
        case .projectCreate, .sessionCreate, .chatCreate, .chatSend, .chatCancel: false
        }
    }
}
