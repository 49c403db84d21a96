package import Base

/// Names and numbers of the Simple Management Protocol over GATT.
package enum SMPNumbers {
    package static let service = GATTUUID(0x8D53_DC1D_1DB7_4CD3, 0x868B_8A52_7460_AA84)
    /// Requests are written to it without response; it notifies answers.
    package static let characteristic = Characteristic(
        GATTUUID(0xDA2E_7828_FBCE_4E01, 0xAE9E_2611_7499_7C48),
        of: service
    )
    /// The least image data in the first piece of an upload: it contains the image's header.
    package static let firstChunkMinimum = 32
    /// The buffer size of a device that does not report it: Zephyr's default.
    package static let defaultBufferSize = 384

    package enum Group {
        package static let os: UInt16 = 0
        package static let image: UInt16 = 1
        package static let statistics: UInt16 = 2
        package static let settings: UInt16 = 3
        package static let files: UInt16 = 8
    }

    package enum OS {
        package static let echo: UInt8 = 0
        package static let reset: UInt8 = 5
        package static let parameters: UInt8 = 6
        package static let bootloaderInfo: UInt8 = 8
    }

    package enum Image {
        package static let state: UInt8 = 0
        package static let upload: UInt8 = 1
        package static let erase: UInt8 = 5
        package static let slotInfo: UInt8 = 6
    }

    package enum Statistics {
        package static let read: UInt8 = 0
    }

    package enum Settings {
        package static let value: UInt8 = 0
        package static let commit: UInt8 = 2
        /// Reading it loads the settings, writing it saves them.
        package static let save: UInt8 = 3
    }

    package enum Files {
        /// Reading it receives a file from the device, writing it sends one.
        package static let content: UInt8 = 0
    }
}
