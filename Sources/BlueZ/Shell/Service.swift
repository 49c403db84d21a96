import Base
import Radio

/// A service of this program, with one central at a time; only the actor `BlueZ` uses it.
final class Service {
    let description: ServiceDescription
    let word: String
    let generation: Int
    /// Its station on the adapter; set right after it was opened.
    var station: UInt64 = 0
    var book: GuestBook
    let alarm: Deadline
    var visits: [GuestBook.Visit: VisitBody] = [:]
    /// Sockets for writing, by the central's object: they may be opened before the subscription.
    var writers: [ObjectPath: (socket: PacketSocket, mailbox: Mailbox<[UInt8]>)] = [:]
    /// Whether the service can no longer be used.
    var isEnded = false
    /// Why it could not be registered or advertised.
    var refusal: BlueZRefusal?
    var isRegistered = false

    init(
        _ description: ServiceDescription,
        _ word: String,
        generation: Int,
        alarm: Deadline
    ) {
        self.description = description
        self.word = word
        self.generation = generation
        book = GuestBook(word)
        self.alarm = alarm
    }

    var notify: Characteristic { Characteristic(description.notify, of: description.uuid) }
    var write: Characteristic { Characteristic(description.write, of: description.uuid) }

    var table: ServedTable { ServedTable(description) }
}

/// One visit of a central that has subscribed; only the actor `BlueZ` uses it.
final class VisitBody {
    let device: ObjectPath
    let socket: PacketSocket
    var mailbox: Mailbox<[UInt8]>
    weak var face: BlueZCentralLink?

    init(device: ObjectPath, socket: PacketSocket, mailbox: Mailbox<[UInt8]>) {
        self.device = device
        self.socket = socket
        self.mailbox = mailbox
    }
}
