extension ClientTarget {
    /// - Throws: ``CompanionClientError/Code/refusedAddress`` for what must not be connected to. Without a key that
    ///   proves the host, that is everything but local addresses.
    func requireAllowed(with security: HostSecurity) throws {
        guard security == .plain else {
            try endpoint?.requireUsable()
            return
        }
        guard let endpoint else {
            throw CompanionClientError(
                .refusedAddress,
                message: "\(self) is no address of your network, and the host has no key that would prove it.",
                delivery: .notSent
            )
        }
        try endpoint.requireLocal()
    }
}
