import CFuzzer
import Glibc

/// The fuzz targets, by name.
///
/// One program contains all of them, because linking each one separately took longer than running
/// it.
private let targets: [String: @Sendable ([UInt8]) -> Void] = [
    "addon": fuzzAddOn,
    "approval": fuzzApproval,
    "attestation": fuzzAttestation,
    "bundle": fuzzBundle,
    "cache": fuzzCache,
    "calendar": fuzzCalendar,
    "carshare": fuzzCarShare,
    "cbor": fuzzCBOR,
    "dbus": fuzzDBus,
    "esp": fuzzESP,
    "gzip": fuzzGzip,
    "http": fuzzHTTP,
    "invitation": fuzzInvitation,
    "journal": fuzzJournal,
    "json": fuzzJSON,
    "legacy": fuzzLegacy,
    "live": fuzzLive,
    "lrdevice": fuzzLRDevice,
    "manifest": fuzzManifest,
    "mcuboot": fuzzMCUboot,
    "minisign": fuzzMinisign,
    "profile": fuzzProfile,
    "record": fuzzRecord,
    "server": fuzzServer,
    "smp": fuzzSMP,
    "state": fuzzState,
    "token": fuzzToken,
    "tuf": fuzzTUF,
    "wire": fuzzWire,
    "zip": fuzzZip,
    "zone": fuzzZone,
]

/// The target that this process runs, by its name in the table.
private let target: @Sendable ([UInt8]) -> Void = {
    let name = getenv("YARDMASTER_FUZZ_TARGET").map { String(cString: $0) } ?? ""
    guard let target = targets[name] else {
        fatalError("YARDMASTER_FUZZ_TARGET is none of \(targets.keys.sorted())")
    }
    return target
}()

@c(LLVMFuzzerTestOneInput)
func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    target(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
}

/// The program where libFuzzer is only linked; an instrumented build has a `main` of its own.
@c(fuzz_main)
func fuzzMain(
    _ count: CInt,
    _ words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> CInt {
    var (count, words) = (count, words)
    return LLVMFuzzerRunDriver(&count, &words, fuzzOneInput)
}
