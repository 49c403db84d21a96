import Domain

/// How much of a repository is read at most, whatever it says of itself.
package struct TrustLimits: Sendable {
    package var root: Int64 = 512_000
    package var timestamp: Int64 = 16_384
    package var snapshot: Int64 = 2_000_000
    package var targets: Int64 = 5_000_000
    /// What a length that is listed for a document can raise the limit to.
    package var listed: Int64 = 32 << 20
    /// Of one target file.
    package var file: Int64 = 64 << 20
    package var roots = 256
    package var roles = 32
    /// How far the clock may go back unnoticed.
    package var clockTolerance: Duration = .seconds(600)

    package init() {}
}
