/// A scheduler one of whose jobs makes one delivery, for tests that take them one by one.
package protocol SteppingScheduler: DeliveryScheduler {}
