import Base

/// The limits for reading a repository, whatever its documents state.
package struct TrustLimits: Sendable {
    package var root: Int64 = 512_000
    var timestamp: Int64 = 16_384
    var snapshot: Int64 = 2_000_000
    var targets: Int64 = 5_000_000
    /// The highest limit that a document's listed length can set.
    package var listed: Int64 = 32 << 20
    /// The limit for one target file.
    var file: Int64 = 64 << 20
    var roots = 256
    var roles = 32
    /// How far the clock may go back without an error.
    var clockTolerance: Duration = .seconds(600)

    package init() {}
}
