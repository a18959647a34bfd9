import CompanionClient
import CompanionWire

/// Asks hosts for their state. The requests contain no secret.
package enum Probe {
    /// The delay before each further address of a host is tried.
    private static let lead = Duration.milliseconds(250)

    /// Probes all hosts, at most 16 at a time, each at its addresses until one answers.
    package static func fill(_ rows: inout [SightedHost]) async {
        let results = await withTaskGroup(of: (Int, ProbeResult).self) { group in
            var results: [Int: ProbeResult] = [:]
            for (index, row) in rows.enumerated() {
                if index >= 16, let (done, result) = await group.next() { results[done] = result }
                group.addTask { (index, await probe(row)) }
            }
            for await (done, result) in group { results[done] = result }
            return results
        }
        for (index, result) in results { rows[index].probe = result }
    }

    package static func probe(_ row: SightedHost) async -> ProbeResult {
        if !row.endpoints.isEmpty, row.localEndpoints.isEmpty {
            return ProbeResult(state: .skipped, reason: "its address is not on your network")
        }
        if let pin = row.pin, await hasOtherKey(row.secureEndpoints, than: pin) {
            return ProbeResult(state: .impostor, reason: "its TLS key is not the one that you have paired with")
        }
        let none = ProbeResult(state: .down, reason: row.unresolved ? "its name does not resolve" : "it has no address")
        return await withTaskGroup(of: (Int, ProbeResult).self) { group in
            for (index, endpoint) in row.localEndpoints.enumerated() {
                group.addTask {
                    // Addresses are tried in order of preference, each a little later: a silent one does not block the
                    // others.
                    try? await Task.sleep(for: lead * index)
                    guard !Task.isCancelled else { return (index, none) }
                    let speaksTLS = row.secureEndpoints.contains(endpoint)
                    return (index, await probe(endpoint, family: row.family, speaksTLS: speaksTLS))
                }
            }
            var last = (index: -1, result: none)
            for await (index, result) in group {
                if result.state == .up {
                    group.cancelAll()
                    return result
                }
                if index > last.index { last = (index, result) }
            }
            return last.result
        }
    }

    /// Whether all TLS servers at the addresses have a key other than the paired host's.
    private static func hasOtherKey(_ endpoints: [CompanionEndpoint], than pin: String) async -> Bool {
        let configuration = CompanionClientConfiguration(timeouts: .lookup)
        var hasOther = false
        for endpoint in endpoints where endpoint.address.isLocal {
            do {
                _ = try await PinnedTLS.certificate(of: endpoint, expecting: pin, configuration: configuration)
                return false
            } catch let error as CompanionClientError where error.code == .pinMismatch {
                hasOther = true
            } catch {
                // An address that does not answer proves nothing.
            }
        }
        return hasOther
    }

    static func probe(
        _ endpoint: CompanionEndpoint,
        family: HostFamily,
        speaksTLS: Bool = false
    ) async -> ProbeResult {
        do {
            // The key of a paired host was checked before.
            let health = try await family.behavior.health(at: endpoint, speaksTLS: speaksTLS, timeouts: .lookup)
            return ProbeResult(
                state: health.isForeign ? .other : .up,
                service: health.service,
                version: health.version,
                address: "\(endpoint)",
                reason: health.trouble
            )
        } catch let error as CompanionClientError {
            guard error.delivery == .answered else {
                return ProbeResult(state: .down, address: "\(endpoint)", reason: error.description)
            }
            return ProbeResult(state: .other, address: "\(endpoint)", reason: error.description)
        } catch {
            return ProbeResult(state: .down, address: "\(endpoint)", reason: "\(error)")
        }
    }
}
