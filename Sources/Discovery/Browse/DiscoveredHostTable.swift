import CompanionWire

/// Merges service instances into hosts: fed with what was resolved, failed and left, it says which rows change.
///
/// Instances whose TXT records carry the same valid `id` are one host (of one family). Without an id, it is the same
/// family, instance name and SRV host name that make a host.
package struct DiscoveredHostTable: Sendable {
    private enum RowKey: Hashable {
        case advertised(HostFamily, id: String)
        case named(HostFamily, instance: [UInt8], hostName: String)
        case unresolved(HostFamily, instance: [UInt8])
    }

    private struct InstanceName: Hashable {
        var family: HostFamily
        var name: [UInt8]
    }

    private enum Outcome: Hashable {
        case resolved(ServiceResolution)
        case failed(AdvertFlaw)

        var resolution: ServiceResolution? { if case .resolved(let resolution) = self { resolution } else { nil } }
    }

    /// Every instance that was resolved or could not be.
    private var outcomes: [ServiceInstance: Outcome] = [:]
    private var members: [RowKey: Set<ServiceInstance>] = [:]
    /// The host in the last event about each row. The receiver of the events keeps the hosts in ``HostsInSight``.
    private var rows: [RowKey: DiscoveredHost] = [:]
    /// How many instances of a name are resolved: while there is one, its failed siblings make no row of their own.
    private var resolvedCounts: [InstanceName: Int] = [:]

    package init() {}

    /// Whether an instance is there with its address.
    func isResolved(_ instance: ServiceInstance) -> Bool {
        outcomes[instance]?.resolution != nil
    }

    /// Takes in that an instance was resolved, for the first time or again.
    ///
    /// - Returns: The hosts that appear, change or leave by it; empty if nothing changes.
    package mutating func resolved(_ instance: ServiceInstance, as resolution: ServiceResolution) -> [DiscoveryEvent] {
        update(instance, to: .resolved(resolution))
    }

    /// Takes in that an instance is announced but could not be resolved.
    ///
    /// - Returns: As for ``resolved(_:_:)``.
    package mutating func failed(_ instance: ServiceInstance, because flaw: AdvertFlaw = .noAddress) -> [DiscoveryEvent]
    {
        update(instance, to: .failed(flaw))
    }

    /// Takes in that an instance has left.
    ///
    /// - Returns: As for ``resolved(_:_:)``.
    package mutating func removed(_ instance: ServiceInstance) -> [DiscoveryEvent] {
        update(instance, to: nil)
    }

    private mutating func update(_ instance: ServiceInstance, to new: Outcome?) -> [DiscoveryEvent] {
        let old = outcomes[instance]
        guard old != new else { return [] }
        let name = InstanceName(family: instance.family, name: instance.name)
        var affected = [RowKey.unresolved(instance.family, instance: instance.name)]
        if let old {
            let key = Self.key(of: instance, resolution: old.resolution)
            members[key]?.remove(instance)
            if members[key]?.isEmpty == true { members[key] = nil }
            if old.resolution != nil { resolvedCounts[name, default: 0] -= 1 }
            if !affected.contains(key) { affected.append(key) }
        }
        if let new {
            let key = Self.key(of: instance, resolution: new.resolution)
            members[key, default: []].insert(instance)
            if new.resolution != nil { resolvedCounts[name, default: 0] += 1 }
            if !affected.contains(key) { affected.append(key) }
        }
        if resolvedCounts[name] == 0 { resolvedCounts[name] = nil }
        outcomes[instance] = new
        return affected.compactMap { refresh($0) }
    }

    private static func key(of instance: ServiceInstance, resolution: ServiceResolution?) -> RowKey {
        guard let resolution else { return .unresolved(instance.family, instance: instance.name) }
        if let id = resolution.txt.advertisedID { return .advertised(instance.family, id: id) }
        return .named(instance.family, instance: instance.name, hostName: resolution.hostName.lowercased())
    }

    private mutating func refresh(_ key: RowKey) -> DiscoveryEvent? {
        let old = rows[key]
        let new = row(for: key)
        guard old != new else { return nil }
        rows[key] = new
        return switch (old, new) {
        case (nil, let new?): .added(new)
        case (_?, let new?): .changed(new)
        case (let old?, nil): .removed(old)
        case (nil, nil): nil
        }
    }

    private func row(for key: RowKey) -> DiscoveredHost? {
        guard let instances = members[key]?.sorted(), let first = instances.first else { return nil }
        if case .unresolved(let family, let instance) = key {
            guard resolvedCounts[InstanceName(family: family, name: instance)] == nil else { return nil }
            return DiscoveredHost(
                id: Self.stableID(family: family, instance: instance, hostName: ""),
                name: first.nameText,
                instanceName: first.nameText,
                family: family,
                types: Set(instances.map(\.type)),
                endpoints: [],
                unresolved: true,
                flaws: Set(instances.compactMap { if case .failed(let flaw) = outcomes[$0] { flaw } else { nil } })
                    .union(Self.nameFlaws(first))
            )
        }
        let resolved = instances.compactMap { instance in
            outcomes[instance]?.resolution.map { (instance: instance, resolution: $0) }
        }
        guard let leader = resolved.first else { return nil }
        // The first instance's word counts; the others only add keys that it lacks.
        let txt = resolved.reduce(into: [String: String]()) { txt, member in
            txt.merge(member.resolution.txt.values) { known, _ in known }
        }
        let endpoints = Set(
            resolved.map { member in
                DiscoveredEndpoint(
                    endpoint: member.resolution.endpoint,
                    interface: member.resolution.interface,
                    type: member.instance.type,
                    hostName: member.resolution.hostName
                )
            }
        )
        let advertisedID = leader.resolution.txt.advertisedID
        let ownID = Self.stableID(
            family: first.family,
            instance: first.name,
            hostName: leader.resolution.hostName.lowercased()
        )
        return DiscoveredHost(
            id: advertisedID ?? ownID,
            advertisedID: advertisedID,
            name: txt["name"].flatMap { $0.isEmpty ? nil : $0 } ?? first.nameText,
            instanceName: first.nameText,
            family: first.family,
            types: Set(instances.map(\.type)),
            endpoints: endpoints.sorted(),
            txt: txt,
            flaws: resolved.reduce(into: Self.nameFlaws(first)) { flaws, member in
                flaws.formUnion(member.resolution.txt.flaws)
                if member.resolution.isSenderAddress { flaws.insert(.senderAddress) }
            }
        )
    }

    private static func nameFlaws(_ instance: ServiceInstance) -> Set<AdvertFlaw> {
        instance.nameText.utf8.elementsEqual(instance.name) ? [] : [.invalidUTF8]
    }

    /// How many records of the network with the most of them an engine keeps for what is known here: a PTR record for
    /// each instance, an SRV and a TXT record for each that is resolved, and an address for each host name.
    var recordCount: Int {
        var counts: [ServiceInstance.Link?: Int] = [:]
        var hostNames: [ServiceInstance.Link?: Set<String>] = [:]
        for (instance, outcome) in outcomes {
            counts[instance.link, default: 0] += outcome.resolution == nil ? 1 : 3
            if let name = outcome.resolution?.hostName { hostNames[instance.link, default: []].insert(name) }
        }
        return counts.map { $0.value + (hostNames[$0.key]?.count ?? 0) }.max() ?? 0
    }

    /// ``recordCount`` is not more than this.
    var mostRecords: Int { outcomes.count * 4 }

    /// 64-bit FNV-1a over the parts, each followed by a byte that UTF-8 does not use: the same on every machine and
    /// run.
    private static func stableID(family: HostFamily, instance: [UInt8], hostName: String) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for part in [Array(family.rawValue.utf8), instance, Array(hostName.utf8)] {
            for byte in part + [0xff] {
                hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
            }
        }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
