import SeededNumbers

/// Changes a file here and there: bits, bytes, numbers that are all ones, pieces cut out, doubled or made up.
struct Mutator {
    private let file: [UInt8]
    private var generator: SeededGenerator

    init(_ file: [UInt8], seed: UInt64) {
        self.file = file
        generator = SeededGenerator(seed: seed)
    }

    mutating func next() -> [UInt8] {
        var mutant = file
        for _ in 0..<Int.random(in: 1...5, using: &generator) {
            // Half of the changes fall into the headers.
            let end = Bool.random(using: &generator) ? min(mutant.count, 120) : mutant.count
            guard end > 4 else { return mutant }
            let place = Int.random(in: 0..<end - 4, using: &generator)
            switch Int.random(in: 0...6, using: &generator) {
            case 0: mutant[place] ^= 1 << UInt8.random(in: 0...7, using: &generator)
            case 1: mutant[place] = UInt8.random(in: 0...255, using: &generator)
            case 2: for index in place..<place + 4 { mutant[index] = 255 }
            case 3: mutant.remove(at: place)
            case 4: mutant.insert(contentsOf: generator.bytes(3), at: place)
            case 5: mutant.insert(contentsOf: mutant[place..<min(place + 64, mutant.count)], at: place)
            default: mutant.removeSubrange(place..<min(mutant.count, place + Int.random(in: 1...64, using: &generator)))
            }
        }
        return mutant
    }
}
