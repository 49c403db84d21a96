package import Domain

/// Names and numbers of the Simple Management Protocol over GATT.
package enum SMPNumbers {
    package static let service = GATTUUID(0x8D53_DC1D_1DB7_4CD3, 0x868B_8A52_7460_AA84)
    /// Requests are written to it without response, answers are notified by it.
    package static let characteristic = Characteristic(
        GATTUUID(0xDA2E_7828_FBCE_4E01, 0xAE9E_2611_7499_7C48),
        of: service
    )
    /// Image data that the first chunk of an upload holds at least: the image's header is in it.
    package static let firstChunkMinimum = 32
    /// What a device takes that does not tell: Zephyr's own default.
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
        /// Read, they are loaded; written, they are saved.
        package static let save: UInt8 = 3
    }

    package enum Files {
        /// Read, a file is sent to us; written, to the device.
        package static let content: UInt8 = 0
    }
}
