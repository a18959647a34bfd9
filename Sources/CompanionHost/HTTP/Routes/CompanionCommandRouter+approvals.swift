import CompanionWire
import HTTPTypes
import Hummingbird

extension CompanionCommandRouter {
    /// Adds the routes for the questions of the agent. Answers come by a signed command, `approval.decide`.
    func addApprovalRoutes(to router: Router<HostRequestContext>) {
        add(.get, path: "/companion/approvals", to: router) { request, context in
            _ = try await authenticate(request, in: context)
            let all = Self.integer(request.uri.queryParameters["all"]) ?? 0
            return .json(ApprovalsListResponse(approvals: try await questions.list(all: all != 0, isOwner: false)))
        }
        add(.get, path: "/companion/approvals/:id", to: router) { request, context in
            let device = try await authenticate(request, in: context)
            let id = try context.parameter("id")
            guard let question = try await questions.question(id: id, isOwner: false) else {
                throw HostError(.approvalUnknown, HostErrorText.approvalUnknown)
            }
            return .json(
                ApprovalResponse(
                    approval: question,
                    mayDecide: device.permissions.contains(.approve),
                    mayAlways: questions.devicesMayAlways
                )
            )
        }
    }
}
