"""What stores ask for requests, in dollars for a million of each kind. Prices change: --price overrides them."""

DATE = "November 2026"

# Taken from pages that quote the price lists; only the stores' own pages count.
CLASSES = {
    "s3": ("S3, us-east-1, standard", 5.00, 0.40, 0.023),
    "r2": ("R2, standard", 4.50, 0.36, 0.015),
    "gcs": ("Google Cloud Storage, one region, standard", 5.00, 0.40, 0.020),
}
# The first class is that of requests that write or list, the second that of requests that read. Removing costs nothing.
WRITING = ["LIST", "PUT", "CREATE", "PART", "LISTPARTS", "COMPLETE"]
READING = ["GET", "HEAD"]
FREE = ["DELETE", "ABORT"]


class Prices:
    def __init__(self, store, writing=None, reading=None):
        self.name, usual_writing, usual_reading, self.month = CLASSES[store]
        self.writing = usual_writing if writing is None else writing
        self.reading = usual_reading if reading is None else reading

    def of(self, requests):
        writing = sum(requests[kind] for kind in WRITING)
        reading = sum(requests[kind] for kind in READING)
        return (writing * self.writing + reading * self.reading) / 1e6
