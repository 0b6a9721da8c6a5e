// one error: a timestamp has to be a Date or Date?
import Larder

func column() { _ = Column("name", \City.name, .updatedAt) }
