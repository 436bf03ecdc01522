import Testing

@testable import Tether

/// The gate, which tells those who end one observer at the same moment apart.
@Suite struct GateTests {
    @Test func `R3 of all that close a gate the first alone is told to do the rest`() {
        let registration = PlainRegistration(
            center: CenterCore(usesExactLifetimes: true), site: RegistrationSite(file: #fileID, line: #line),
            handler: { _ in })
        #expect(!registration.hasEnded)
        #expect([registration.close(), registration.close(), registration.close()] == [true, false, false])
        #expect(registration.hasEnded)
    }

    @Test func `R8 who looks is handed no registration whose gate is closed, though it is still held`() {
        let registration = PlainRegistration(
            center: CenterCore(usesExactLifetimes: true), site: RegistrationSite(file: #fileID, line: #line),
            handler: { _ in })
        let memory = RegistrationMemory(of: registration)
        #expect(memory.look { _ in true } == true)
        #expect(registration.close())
        #expect(memory.look { _ in true } == nil)
    }
}
