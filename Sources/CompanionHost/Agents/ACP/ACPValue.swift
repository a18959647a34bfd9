import CompanionWire

/// JSON of an agent: any JSON, read leniently. A member that is missing or of another type is nil.
typealias ACPValue = LenientJSON
