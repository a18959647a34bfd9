package import CompanionWire

extension CompanionAPIClient: DeviceManaging, ModelListing {
    /// `GET /health`.
    ///
    /// - Throws: ``CompanionClientError/Code/notACompanion``, also if the answer is some other JSON.
    ///   ``CompanionHealthResponse/isCompanion`` says whether the service speaks the protocol; see
    ///   ``requireCompanion()``.
    package func health() async throws -> CompanionHealthResponse {
        do {
            var request = CompanionRequest.get("/health")
            request.isAnonymous = true
            return try await json(request, as: CompanionHealthResponse.self)
        } catch let error as CompanionClientError where [.badAnswer, .notFound].contains(error.code) {
            var error = error
            error.code = .notACompanion
            error.message = "The server on \(target) is not a companion host."
            throw error
        }
    }

    /// Asks `GET /health` and throws if the service does not speak the protocol.
    @discardableResult
    package func requireCompanion() async throws -> CompanionHealthResponse {
        let health = try await health()
        guard health.isCompanion else {
            throw CompanionClientError(
                .notACompanion,
                message: "Another service listens on \(target).",
                hostText: health.service
            )
        }
        return health
    }

    /// `GET /companion/status`.
    package func status() async throws -> CompanionStatusResponse {
        try await json(.get("/companion/status"), as: CompanionStatusResponse.self)
    }

    /// `POST /companion/disconnect`.
    package func disconnect() async throws -> CompanionStatusResponse {
        try await json(.post("/companion/disconnect", body: EmptyBody()), as: CompanionStatusResponse.self)
    }

    /// `GET /companion/devices`.
    package func devices() async throws -> [CompanionDevice] {
        let list = try await json(.get("/companion/devices"), as: DevicesListResponse.self).devices
        return leftOut.elements(of: list, as: .devices)
    }

    /// `POST /companion/reach`: tells the host what this device shows to relays, and learns how it is reached.
    ///
    /// - Returns: nil from a host that knows no relays.
    package func reach(relayID: RelayID?) async throws -> CompanionReachResponse? {
        do {
            let body = CompanionReachRequest(relayId: relayID)
            return try await json(.post("/companion/reach", body: body), as: CompanionReachResponse.self)
        } catch let error as CompanionClientError where [.notFound, .badRequest].contains(error.code) {
            return nil
        }
    }

    /// `DELETE /companion/devices/:id`.
    package func revokeDevice(id: String) async throws -> CompanionStatusResponse {
        let segment = try segment(id, of: "device")
        return try await json(.delete("/companion/devices/\(segment)"), as: CompanionStatusResponse.self)
    }

    /// `GET /auth/status`.
    package func authStatus() async throws -> CompanionAuthStatusResponse {
        try await json(.get("/auth/status"), as: CompanionAuthStatusResponse.self)
    }

    /// `GET /models`.
    ///
    /// - Throws: ``CompanionClientError/Code/hostSignedOut`` for the status 500 that deployed hosts return while they
    ///   are signed out; `GET /auth/status` distinguishes it from other errors.
    package func models() async throws -> [CompanionModel] {
        do {
            let list = try await json(.get("/models"), as: CompanionModelsResponse.self).models
            return leftOut.elements(of: list, as: .models)
        } catch let error as CompanionClientError where error.httpStatus == 500 {
            guard let auth = try? await authStatus(), !auth.authenticated else { throw error }
            var error = error
            error.code = .hostSignedOut
            error.message = "The assistant's account is not signed in on \(target)."
            throw error
        }
    }

    /// An id as one segment of a path.
    ///
    /// - Throws: ``CompanionClientError/Code/badRequest`` for an empty id, which would change the path's meaning.
    func segment(_ id: String, of what: String) throws -> String {
        guard !id.isEmpty else {
            throw CompanionClientError(.badRequest, message: "The id of the \(what) is empty.", delivery: .notSent)
        }
        return percentEncoded(id)
    }
}
