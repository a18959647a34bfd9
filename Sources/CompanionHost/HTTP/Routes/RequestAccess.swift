import CompanionWire
import HTTPTypes
import Hummingbird

/// Decides which requests are let in: those of v2 by their sessions, those of v1 by their addresses.
struct RequestAccess: Sendable {
    /// Whether v1 is served.
    let legacy: Bool
    let clock: HostClock
    let gate: DeviceGate
    let agent: any Agent
    let connections: ConnectionGate
    let refusals: AgentRefusals
    /// Finds the user of this machine who sends a request.
    let localPeers = LocalPeers()
    /// Tells how a connection came.
    let rungs = ConnectionRungs()

    var devices: CompanionDeviceStore { gate.devices }
    var revocations: RevocationCenter { gate.revocations }

    /// The device that a request of v2 belongs to, by its session.
    ///
    /// - Throws: 426 for a request of v1; 401 or 403 with `session.required`, `session.expired`, `device.revoked` or
    ///   `device.expired`.
    func authenticate(_ request: Request, in context: HostRequestContext) async throws -> AuthenticatedDevice {
        try requireV2(context)
        return try await trusting(context) {
            let device = try await gate.authenticate(request.bearerToken)
            try await requireRung(of: device.id, by: request, in: context)
            return device
        }
    }

    /// Refuses a device that comes by a rung that it may not use, and one that comes by a relay with another's id.
    ///
    /// - Throws: ``HostError`` with `request.forbidden`.
    func requireRung(of id: String, by request: Request, in context: HostRequestContext) async throws {
        guard let device = devices.device(id: id) else { return }
        if let relayID = context.relayID, relayID != device.relayID {
            throw HostError(.requestForbidden, "The relay knows you as another device: pair again")
        }
        guard let allowed = device.rungs else {
            let rung = context.relayID == nil ? request.toldRung : .relay
            return await devices.touch(id, via: rung ?? .direct)
        }
        let rung = await rungs.rung(of: context.channel)
        await devices.touch(id, via: rung)
        guard allowed.contains(rung) else {
            throw HostError(
                .requestForbidden,
                "This device may not come by this way (\(rung.rawValue)): at the host, pairtool host permissions "
                    + "\(id.prefix(8)) --via \(rung.rawValue)"
            )
        }
    }

    /// Lets a request of either protocol pass.
    ///
    /// - Parameter permission: The permission that the device needs. Default: nil, being paired is enough.
    /// - Throws: As ``authenticate(_:in:)`` or ``requireConnection(_:)``; 403 with `permission.denied`.
    @discardableResult
    func admit(
        _ request: Request,
        in context: HostRequestContext,
        for permission: CompanionPermission? = nil
    ) async throws -> AuthenticatedDevice {
        let device =
            context.version >= 2
            ? try await authenticate(request, in: context)
            : try await trusting(context) { try await requireConnection(context) }
        if let permission, !device.permissions.contains(permission) {
            throw HostError.lacking(permission, device: device.id)
        }
        return device
    }

    /// Notes at the connection whether the client has proven to be a paired device: others give way to it.
    private func trusting(
        _ context: HostRequestContext,
        _ authenticate: () async throws -> AuthenticatedDevice
    ) async throws -> AuthenticatedDevice {
        do {
            let device = try await authenticate()
            connections.trust(context.channel, isTrusted: true)
            return device
        } catch {
            connections.trust(context.channel, isTrusted: false)
            throw error
        }
    }

    /// Refuses requests that do not speak v2 over HTTPS.
    func requireV2(_ context: HostRequestContext) throws {
        guard context.isSecure, context.version >= 2 else {
            throw VersionGate.httpsRequired
        }
    }

    /// Lets a request of v1 pass that the connected device makes from the address that it paired from.
    ///
    /// - Throws: In the order of deployed hosts: 403 when no device is connected, 403 for another address (which they
    ///   do not check), 401 when the agent cannot work.
    private func requireConnection(_ context: HostRequestContext) async throws -> AuthenticatedDevice {
        guard let connection = devices.connection else {
            throw HostResponseError(.forbidden, CompanionErrorResponse.Text.noDeviceConnected)
        }
        guard connection.address == context.peer else {
            throw HostResponseError(.forbidden, "Paired from another address: pair again from this machine")
        }
        // All users of this machine have that address.
        if localPeers.isHere(context.channel), await !localPeers.isUser(of: connection.device.id, over: context.channel)
        {
            throw HostResponseError(.forbidden, "Paired by another user of this machine: pair again as this user")
        }
        guard agent.isAvailable() else {
            throw HostResponseError(.unauthorized, CompanionErrorResponse.Text.authRequired)
        }
        guard let device = devices.device(id: connection.device.id), device.isActive(at: clock.now()) else {
            throw DeviceGate.deviceExpired
        }
        await devices.touch(device.id)
        return AuthenticatedDevice(device, protocolVersion: 1, epoch: revocations.epoch(of: device.id))
    }

    /// Lets a request about the pairing pass if it comes from the paired address, or from the host's own user.
    func requireManager(_ context: HostRequestContext) async throws {
        guard await isManager(context, of: devices.connection) else {
            let isRightAddress = context.isLoopback || devices.connection?.address == context.peer
            throw HostResponseError(
                .forbidden,
                isRightAddress
                    ? "Only the paired device or the user who runs this host may do this"
                    : "Only the paired device or the host machine itself may do this"
            )
        }
    }

    /// Whether a device of v1 is connected, and which one: the latter only for itself and for the host's own user.
    func status(for context: HostRequestContext) async -> Response {
        let connection = legacy ? devices.connection : nil
        var status = CompanionStatusResponse(connectedDevice: connection?.device)
        if connection != nil, await !isManager(context, of: connection) { status.connectedDevice = nil }
        return .json(status)
    }

    private func isManager(
        _ context: HostRequestContext,
        of connection: CompanionDeviceStore.Connection?
    ) async -> Bool {
        guard let connection, connection.address == context.peer else {
            return context.isLoopback ? await localPeers.isOwner(context.channel) : false
        }
        guard localPeers.isHere(context.channel) else { return true }
        return await localPeers.isUser(of: connection.device.id, over: context.channel)
    }

    /// Refuses a request for something that only the owner may do, if it comes from an agent of this host, or from a
    /// process of this machine that may be one. To be asked for each request: a connection can be passed on.
    ///
    /// - Parameters:
    ///   - device: The id of the device that asks; nil for one that is not known yet.
    ///   - command: For the audit.
    /// - Returns: Whether the request comes from a process of the owner's on this machine.
    /// - Throws: ``HostError`` with `request.forbidden`.
    @discardableResult
    func refuseAgents(
        command: String,
        of device: String? = nil,
        in context: HostRequestContext
    ) async throws -> Bool {
        let origin = await localPeers.origin(of: context.peer, over: context.channel)
        switch origin {
        case .elsewhere: return false
        case .owner:
            if let device { await devices.setHere(device) }
            return true
        case .relay, .ssh:
            // An agent of this machine could come that way too, with the keys of a device that is here.
            guard let device, devices.device(id: device)?.isHere == true else { return false }
            await refusals.record(command, process: nil, address: context.peer?.description)
            throw HostError(
                .requestForbidden,
                "A device of the host's own machine may do this only without a relay and without ssh."
            )
        case .agent(let process):
            await refusals.record(command, process: process, address: context.peer?.description)
            throw AgentRefusals.refusal
        case .unknown:
            await refusals.record(command, process: nil, address: context.peer?.description)
            throw HostError(
                .requestForbidden,
                "The host cannot tell which program on this machine asks for this; it may be the agent. "
                    + "Run `pairtool host` commands in a terminal that the agent did not start, "
                    + "or use a device on another machine."
            )
        }
    }

    /// The access that a device's stream is asked for with.
    func stream(for device: AuthenticatedDevice, in context: HostRequestContext) -> StreamAccess {
        StreamAccess(device: device, revocations: revocations, channel: context.channel)
    }
}

extension Request {
    /// How the device says that it came. It is believed for what people are shown, and for nothing else.
    fileprivate var toldRung: HostRoute.Rung? {
        guard let name = HTTPField.Name(ProtocolVersion.viaHeader) else { return nil }
        let rung = headers[name].flatMap(HostRoute.Rung.init)
        return rung == .relay ? nil : rung
    }

    /// The token of the session that the request comes with.
    fileprivate var bearerToken: String? {
        guard let value = headers[.authorization] else { return nil }
        let parts = value.parts(" ", omittingEmpty: true)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return String(parts[1])
    }
}
