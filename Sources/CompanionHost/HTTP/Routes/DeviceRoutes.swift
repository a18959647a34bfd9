import CompanionWire
import HTTPTypes
import Hummingbird

/// The paired devices, and the end of their access.
struct DeviceRoutes: RouteGroup {
    let access: RequestAccess
    let control: DeviceControl

    private static let onlyAtHost = HostResponseError(
        .forbidden,
        "Only the host machine itself may do this: pairtool host revoke"
    )

    private var devices: CompanionDeviceStore { control.devices }

    func addRoutes(to router: Router<HostRequestContext>) {
        router.add("/companion/status") { request, context in
            guard context.version >= 2, request.headers[.authorization] != nil else {
                return await access.status(for: context)
            }
            return status(of: try await access.authenticate(request, in: context))
        }
        router.add("/companion/devices") { request, context in
            if context.version >= 2 {
                _ = try await access.authenticate(request, in: context)
            } else {
                try await access.requireManager(context)
            }
            return .json(DevicesListResponse(devices: devices.devices().map(\.companionDevice)))
        }
        router.add("/companion/disconnect", method: .post, use: disconnect)
        router.add("/companion/devices/:id", method: .delete, use: revoke)
    }

    @Sendable private func disconnect(_ request: Request, in context: HostRequestContext) async throws -> Response {
        if context.version >= 2 {
            let device = try await access.authenticate(request, in: context)
            try await access.refuseAgents(command: "disconnect", of: device.id, in: context)
            try await control.disconnect(device)
            return .json(CompanionStatusResponse(connectedDevice: nil))
        }
        // It takes no body; what says that it is JSON has to be.
        try await context.checkBody(ofRefused: request)
        // Without a connected device there is nothing to protect, and disconnecting twice is no error.
        if devices.connection != nil {
            try await access.requireManager(context)
            try await access.refuseAgents(command: "disconnect", in: context)
        }
        try await control.disconnect()
        return await access.status(for: context)
    }

    @Sendable private func revoke(_ request: Request, in context: HostRequestContext) async throws -> Response {
        let id = try context.parameter("id")
        guard !id.isEmpty else {
            throw HostResponseError(.badRequest, CompanionErrorResponse.Text.missingDeviceID)
        }
        if context.version >= 2 {
            let device = try await access.authenticate(request, in: context)
            guard device.id == id else { throw Self.onlyAtHost }
            try await access.refuseAgents(command: "revoke", of: id, in: context)
            try await control.revoke(id, by: id)
            return .json(CompanionStatusResponse(connectedDevice: nil))
        }
        try await access.requireManager(context)
        try await access.refuseAgents(command: "revoke", in: context)
        // A client of v1 has proven nothing that would outweigh a proven pairing.
        guard (devices.device(id: id)?.protocolVersion ?? 1) < 2 else {
            throw Self.onlyAtHost
        }
        try await control.revoke(id, by: try context.address().description)
        return await access.status(for: context)
    }

    /// The answer to a device of v2 that asks for its own status.
    private func status(of device: AuthenticatedDevice) -> Response {
        guard let known = devices.device(id: device.id) else {
            return .json(CompanionStatusResponse(connectedDevice: nil))
        }
        let connected = ConnectedCompanionDevice(
            id: known.id,
            name: known.name,
            connectedAt: known.pairedAt,
            lastSeenAt: known.lastSeenAt
        )
        return .json(
            CompanionStatusResponse(
                connectedDevice: connected,
                permissions: device.permissions,
                device: known.companionDevice,
                expiresAt: device.expiresAt
            )
        )
    }
}
