import Base
import Radio

/// Any bytes are a cache of modules or are refused; a cache is read back as it was written.
func fuzzCache(_ bytes: [UInt8]) {
    let modules: ModuleCacheDocument.Modules
    do throws(ModuleCacheDocument.Fault) {
        modules = try ModuleCacheDocument.modules(in: bytes)
    } catch {
        precondition((error == .foreign) == !ModuleCacheDocument.isOurs(bytes), "\(error)")
        return
    }
    let written = ModuleCacheDocument.bytes(of: modules)
    guard let again = try? ModuleCacheDocument.modules(in: written),
        again.map(\.serial) == modules.map(\.serial)
    else { fatalError("a cache is not read back") }
    for (old, new) in zip(modules, again) where old.module != new.module {
        // A text that is too long is left out, and nothing else.
        precondition(bytes.count > 4_096, "\(old) became \(new)")
    }
    precondition(ModuleCacheDocument.bytes(of: again) == written)
}
