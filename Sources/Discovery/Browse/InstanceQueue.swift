/// Instances in the order in which they came, any of which can be taken out in constant time.
struct InstanceQueue: Sendable {
    /// The instances in order; nil for those that were taken out.
    private var slots: [ServiceInstance?] = []
    /// The index of the first instance, or of a hole before it.
    private var start = 0
    private var places: [ServiceInstance: Int] = [:]

    var count: Int { places.count }
    var isEmpty: Bool { places.isEmpty }

    func contains(_ instance: ServiceInstance) -> Bool {
        places[instance] != nil
    }

    /// Puts an instance at the end; one that is there already stays where it is.
    mutating func append(_ instance: ServiceInstance) {
        guard places[instance] == nil else { return }
        places[instance] = slots.count
        slots.append(instance)
    }

    mutating func popFirst() -> ServiceInstance? {
        while start < slots.count {
            let next = slots[start]
            slots[start] = nil
            start += 1
            guard let next else { continue }
            places[next] = nil
            if places.isEmpty { removeAll() }
            return next
        }
        return nil
    }

    /// - Returns: Whether it was there.
    mutating func remove(_ instance: ServiceInstance) -> Bool {
        guard let place = places.removeValue(forKey: instance) else { return false }
        slots[place] = nil
        if places.isEmpty { removeAll() } else if slots.count > 64, slots.count > 4 * places.count { closeHoles() }
        return true
    }

    mutating func removeAll() {
        self = InstanceQueue()
    }

    private mutating func closeHoles() {
        let instances = slots[start...].compactMap { $0 }
        self = InstanceQueue()
        instances.forEach { append($0) }
    }
}
