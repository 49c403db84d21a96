import Base
import BlueZ
import Glibc
import Images
import Operations
import Show
import Store

/// Any bytes as each small file of a state directory and of a store: what is read can be written and read again.
func fuzzState(_ bytes: [UInt8]) {
    texts(bytes)
    documents(bytes)
    let kind = bytes.first ?? 0
    let rest = Array(bytes.dropFirst())
    switch kind & 3 {
    case 0: links(rest)
    case 1: origins(rest)
    case 2: references(rest)
    default: trust(rest)
    }
}

private let folder: String = {
    var name = Array("/tmp/yardmaster-fuzz-XXXXXX".utf8CString)
    guard mkdtemp(&name) != nil else { fatalError("there is no folder for files") }
    let bytes = name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    let path = String(decoding: bytes, as: UTF8.self)
    for part in ["/images", "/images/references"] { mkdir(path + part, 0o700) }
    return path
}()

private func put(_ bytes: [UInt8], _ name: String) {
    let file = open(folder + "/" + name, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0o600)
    precondition(file >= 0 && write(file, bytes, bytes.count) == bytes.count)
    close(file)
}

private func texts(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    if let holder = LockHolder(text: text) {
        precondition(LockHolder(text: holder.text)?.pid == holder.pid)
        precondition(!holder.description.isEmpty)
    }
    if let plan = PlanView(text: text) {
        precondition(PlanView(text: plan.text)?.text == plan.text, "a plan that is kept changes")
    }
    if let counts = VehicleCounts(text: text) {
        for tally in Outcome.Tally.allCases { precondition(counts.count(tally) >= 0) }
        precondition(counts.total >= 0 && !counts.sentence.isEmpty)
    }
}

private func documents(_ bytes: [UInt8]) {
    _ = ImageProvenance(record: bytes)
    guard let value = try? JSONValue(json: bytes) else { return }
    if let notice = NotifyNotice(value) {
        precondition(NotifyNotice(notice.json) == notice, "a notice that is kept changes")
        precondition(!notice.text.isEmpty)
    }
    let kind = value["kind"]?.string ?? ""
    for vehicle in [nil, VehicleID("v1")] {
        _ = EventReader.body(kind: kind, vehicle: vehicle, value)
    }
}

private func links(_ bytes: [UInt8]) {
    put(bytes, "links")
    put(bytes, "bonds")
    let file = LinkFile(path: folder + "/links", bonds: folder + "/bonds")
    let own = "C0:00:00:00:00:01"
    file.add(own)
    file.bonded(own, at: "hci0")
    let (links, bonds) = (file.links(), file.bonds())
    precondition(links.contains(own) && bonds[own] == "hci0")
    let again = LinkFile(path: folder + "/links", bonds: folder + "/bonds")
    // A file with nothing new is not written again.
    precondition(again.links() == links && again.bonds() == bonds, "links change")
}

private func origins(_ bytes: [UInt8]) {
    put(bytes, "images/origins")
    let records = ImageRecords(StoreFolder(stateDirectory: folder))
    let all = records.all()
    for record in all.values { _ = ImageProvenance(record: record) }
    guard let digest = SHA256Digest(bytes: [UInt8](repeating: 7, count: 32)) else { return }
    do throws(ImageError) { try records.update([digest]) { _, _ in [1] } } catch { return }
    let kept = records.all()
    precondition(kept[digest] == [1] && kept.count >= all.count, "records get lost")
}

private func references(_ bytes: [UInt8]) {
    put(bytes, "images/references/r.list")
    let references = ImageReferences(StoreFolder(stateDirectory: folder))
    guard let all = try? references.all(), let first = all.first else { return }
    precondition(all.count == 1 && first.rollout == "r")
}

private func trust(_ bytes: [UInt8]) {
    for name in ["resets", "bundles-00"] {
        _ = try? TrustStore(MemoryFiles([name: bytes])).resets()
    }
    if let ledger = ReleaseLedger(bytes) { _ = ledger.lines.count }
}
