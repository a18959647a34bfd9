import CSodium
import Identity

/// Arithmetic that an outsider can do, without the code under test.
enum Ristretto {
    /// The point that 64 bytes map to.
    static func map(_ digest: [UInt8]) -> [UInt8] {
        var point = [UInt8](repeating: 0, count: 32)
        crypto_core_ristretto255_from_hash(&point, digest)
        return point
    }

    /// `scalar · base point`.
    static func base(_ scalar: [UInt8]) -> [UInt8] {
        var point = [UInt8](repeating: 0, count: 32)
        precondition(crypto_scalarmult_ristretto255_base(&point, scalar) == 0)
        return point
    }

    static func randomScalar() -> [UInt8] {
        var scalar = [UInt8](repeating: 0, count: 32)
        crypto_core_ristretto255_scalar_random(&scalar)
        return scalar
    }

    /// `a · b / c` modulo the order of the group.
    static func quotient(_ a: [UInt8], _ b: [UInt8], _ c: [UInt8]) -> [UInt8] {
        var (product, inverse) = ([UInt8](repeating: 0, count: 32), [UInt8](repeating: 0, count: 32))
        crypto_core_ristretto255_scalar_mul(&product, a, b)
        crypto_core_ristretto255_scalar_invert(&inverse, c)
        var result = [UInt8](repeating: 0, count: 32)
        crypto_core_ristretto255_scalar_mul(&result, product, inverse)
        return result
    }
}
