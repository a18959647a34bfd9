import CompanionWire
import Hummingbird

/// The approvals that agents ask for. Answers come by a signed command, `approval.decide`.
struct ApprovalRoutes: RouteGroup {
    let access: RequestAccess
    let questions: AgentQuestions

    func addRoutes(to router: Router<HostRequestContext>) {
        router.add("/companion/approvals") { request, context in
            _ = try await access.authenticate(request, in: context)
            let all = request.integer("all") ?? 0
            return .json(ApprovalsListResponse(approvals: try await questions.list(all: all != 0, isOwner: false)))
        }
        router.add("/companion/approvals/:id") { request, context in
            let device = try await access.authenticate(request, in: context)
            let id = try context.parameter("id")
            guard let question = try await questions.question(id: id, isOwner: false) else {
                throw HostError.approvalUnknown
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
