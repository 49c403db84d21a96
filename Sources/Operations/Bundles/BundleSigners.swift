import Base
package import Commands
import Images

/// The keys that must have signed a bundle itself, as `--key` and `--threshold` name them.
package struct BundleSigners {
    /// Nil when no signature is demanded.
    package let demand: BundleDemand?

    package init(_ invocation: Invocation) throws(CommandError) {
        let keys = invocation[Command.key]
        let threshold = invocation[Command.threshold]
        guard !keys.isEmpty else {
            demand = nil
            return
        }
        var given: [BundleDemand.Key] = []
        for key in keys {
            given.append(BundleDemand.Key(name: key, key: try MinisignKey.given(key)))
        }
        let all = BundleDemand(given)
        guard let threshold else {
            demand = all
            return
        }
        guard let count = Int(exactly: threshold), (1...all.keys.count).contains(count) else {
            throw CommandError(
                .usage,
                "'--threshold \(threshold)' does not fit \(all.keys.count) different keys",
                hint: "it is the number of the keys given with --key that must have signed"
            )
        }
        demand = BundleDemand(given, threshold: count)
    }

    /// A sentence about the signers of a bundle that was opened with these keys.
    package var words: String {
        guard let demand else {
            return "the manifest in it is not verified by a signature: see --key"
        }
        let names = demand.keys.map(\.name.visible).joined(separator: ", ")
        return demand.keys.count == 1
            ? "the bundle itself is signed by the key \(names)"
            : "the bundle itself is signed by \(demand.threshold) or more of the keys \(names)"
    }
}
