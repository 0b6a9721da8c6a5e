// one error: a version has to be an integer that is never nil
import Larder

func column() { _ = Column("name", \City.name, .version) }
