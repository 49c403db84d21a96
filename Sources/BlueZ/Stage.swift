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
    }
}
