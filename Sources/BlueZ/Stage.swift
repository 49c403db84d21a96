import DBus
import Domain
import Radio

/// One service of ours on an adapter; touched by the actor `BlueZ` only.
final class Stage {
    let service: ServiceDescription
    let word: String
    let adapter: ObjectPath
    let generation: Int
    let root: ObjectPath
    var isEnded = false
    /// Set when the daemon has dropped the advertisement.
    var isReleased = false
    /// Who subscribed and was not handed out yet.
    var arrived: CentralState?
    var present: CentralState?
    /// Sockets for writing, by the central's object: they may come before the subscription.
    var writers: [ObjectPath: (socket: PacketSocket, mailbox: Mailbox<[UInt8]>)] = [:]
    /// Bonded centrals whose link is gone, by their objects: they may not subscribe again.
    var kept: [ObjectPath: KeptSubscription] = [:]

    init(
        _ service: ServiceDescription,
        word: String,
        adapter: ObjectPath,
        generation: Int,
        root: ObjectPath
    ) {
        self.service = service
        self.word = word
        self.adapter = adapter
        self.generation = generation
        self.root = root
    }

    /// Nothing comes of it any more: whoever holds its central is told.
    func ended() {
        isEnded = true
        present?.close()
        arrived?.close()
        arrived = nil
        for writer in writers.values { writer.socket.close() }
        writers = [:]
        for device in kept.keys.sorted() { drop(device) }
    }

    /// Forgets what a bonded central has subscribed to.
    func drop(_ device: ObjectPath) {
        guard let subscription = kept.removeValue(forKey: device) else { return }
        subscription.alarm?.cancel()
        subscription.socket.close()
    }

    // The root is ours and made of letters and digits: the parts below it are paths.
    var servicePath: ObjectPath { root.appending("service0") ?? root }
    var notifyPath: ObjectPath { servicePath.appending("char0") ?? root }
    var writePath: ObjectPath { servicePath.appending("char1") ?? root }
    /// Beside the application, not in it: that lists services only.
    var advertisementPath: ObjectPath { ObjectPath(root.text + "advertisement") ?? root }
}

/// One central that has subscribed; touched by the actor `BlueZ` only.
final class CentralState {
    let device: ObjectPath
    let notify: PacketSocket
    let mailbox: Mailbox<[UInt8]>
    weak var link: BlueZCentralLink?
    var isLost = false
    /// Set when its link was seen to be gone; the same central may have another one since.
    var hasEnded = false
    /// Of an earlier link; let go with this one's.
    var earlier: PacketSocket?

    init(device: ObjectPath, notify: PacketSocket, mailbox: Mailbox<[UInt8]>) {
        self.device = device
        self.notify = notify
        self.mailbox = mailbox
    }

    /// The first sign of it counts; what was written before can still be taken.
    func lose() {
        guard !isLost else { return }
        isLost = true
        link?.markLost()
        mailbox.end(.linkLost)
    }

    /// Lets its socket go too: only when its link is gone, for bluetoothd 5.82 dies of a socket
    /// that is closed under a link.
    func close() {
        lose()
        notify.close()
        earlier?.close()
    }
}

/// The subscription of a bonded central that is away, which BlueZ remembers for it.
///
/// When it comes back BlueZ goes on with the old socket and does not ask for another one.
final class KeptSubscription {
    let socket: PacketSocket
    /// What the central writes before it is clear whether it subscribes again.
    var mailbox: Mailbox<[UInt8]>
    /// Set while the central is back and may still subscribe by itself.
    var alarm: Alarm?

    init(_ socket: PacketSocket, _ mailbox: Mailbox<[UInt8]>) {
        self.socket = socket
        self.mailbox = mailbox
    }
}
