import CCurl
import CDBus
import CMicrohttpd
import COpenSSL
import CSQLite
import CYAML
import CZlib
import Testing

/// Every library of the distribution is found through its module map, and reports its version.
@Suite struct ShimTests {
    @Test func `each library tells its version`() {
        var (major, minor, micro): (Int32, Int32, Int32) = (0, 0, 0)
        dbus_get_version(&major, &minor, &micro)
        #expect(major == 1)
        #expect(curl_load() == nil)
        #expect(String(cString: curl_loaded_version()).hasPrefix("libcurl/"))
        #expect(web_load() == nil)
        #expect(String(cString: web_loaded_version()) >= "0.9.75")
        #expect(OpenSSL_version_num() >= 0x3000_0000)
        #expect(sqlite3_libversion_number() >= 3_040_000)
        yaml_get_version(&major, &minor, &micro)
        #expect((major, minor) >= (0, 2))
        #expect(String(cString: zlibVersion()).hasPrefix("1."))
    }
}
